#include "cli/http_message.hpp"

#include <algorithm>
#include <array>

namespace perdure::cli {
namespace {

struct StatusName {
  int status;
  const char* name;
};
constexpr std::array kStatusNames = {
    StatusName{200, "OK"},
    StatusName{400, "Bad Request"},
    StatusName{404, "Not Found"},
    StatusName{405, "Method Not Allowed"},
    StatusName{431, "Request Header Fields Too Large"},
    StatusName{500, "Internal Server Error"},
    StatusName{505, "HTTP Version Not Supported"},
};

const char* name_of(int status) {
  for (const auto& [known, name] : kStatusNames)
    if (known == status) return name;
  return "Error";
}

// A token by RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view kToken = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.find_first_not_of(kToken) == std::string_view::npos;
}

bool is_visible(char c) { return c > ' ' && c < 0x7F; }

// Accepts text with blanks and bytes beyond ASCII, but no control characters.
bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\t' || static_cast<unsigned char>(c) >= ' '; }) &&
         text.find('\x7F') == std::string_view::npos;
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Parses "METHOD TARGET HTTP/1.x", one blank between each.
HttpRequest parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return {400, {}, {}};
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1),
                         version = line.substr(last + 1);
  if (!is_token(method) || !target.starts_with('/') || !std::all_of(target.begin(), target.end(), is_visible) ||
      !version.starts_with("HTTP/"))
    return {400, {}, {}};
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return {505, {}, {}};
  return {200, std::string(method), std::string(target.substr(0, target.find('?')))};
}

}  // namespace

std::optional<HttpRequest> parse_http_request(std::string_view bytes) {
  const std::string_view all = bytes.substr(0, kMostRequestBytes);
  const std::size_t crlf = all.find("\r\n\r\n"), lf = all.find("\n\n");
  if (crlf == std::string_view::npos && lf == std::string_view::npos) {
    if (bytes.size() >= kMostRequestBytes) return HttpRequest{431, {}, {}};
    return std::nullopt;
  }
  const std::size_t end =
      std::min(crlf == std::string_view::npos ? crlf : crlf + 2, lf == std::string_view::npos ? lf : lf + 1);
  std::string_view rest = all.substr(0, end);
  HttpRequest request = parse_request_line(take_line(rest));
  while (request.status == 200 && !rest.empty()) {
    const std::string_view line = take_line(rest);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || !is_field_value(line.substr(colon + 1)))
      return HttpRequest{400, {}, {}};
  }
  return request;
}

std::string http_text(const HttpReply& reply, bool head) {
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " " + name_of(reply.status) + "\r\n";
  text += "Content-Type: " + reply.type + "\r\nContent-Length: " + std::to_string(reply.body.size()) + "\r\n";
  if (reply.status == 405) text += "Allow: GET, HEAD\r\n";
  text += "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";
  return head ? text : text + reply.body;
}

HttpReply refusal(int status) { return {status, "text/plain; charset=utf-8", std::string(name_of(status)) + "\n"}; }

}  // namespace perdure::cli
