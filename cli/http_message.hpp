#pragma once
// Parses as much of HTTP/1.1 (RFC 9112) as a scraper needs: one request without a body, one reply, then the end. Pure.
#include <optional>
#include <string>
#include <string_view>

namespace perdure::cli {

inline constexpr std::size_t kMostRequestBytes = 8192;

struct HttpRequest {
  int status = 200;  ///< otherwise the status of the refusal: it is not understood
  std::string method;
  std::string path;  ///< the target up to a '?'
};

/// Parses a request. Empty when more bytes are needed; never when there are kMostRequestBytes.
std::optional<HttpRequest> parse_http_request(std::string_view bytes);

struct HttpReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

/// Writes the reply; for HEAD only the bytes before the body.
std::string http_text(const HttpReply& reply, bool head);
/// Makes a refusal with the status' name as body.
HttpReply refusal(int status);

}  // namespace perdure::cli
