// Fuzzes requests to `perdure metrics --listen` with any bytes: the answer must not depend on how they arrive.
#include "cli/http_message.hpp"
#include "target.hpp"

namespace perdure::fuzz {

void run_one(base::ConstByteSpan input) {
  const std::string_view text = text_of(input);
  const auto whole = cli::parse_http_request(text);
  require(whole.has_value() || text.size() < cli::kMostRequestBytes);
  for (std::size_t bytes = 0; bytes < text.size() && bytes < 512; ++bytes) {
    const auto part = cli::parse_http_request(text.substr(0, bytes));
    if (!part) continue;
    require(whole && part->status == whole->status && part->method == whole->method && part->path == whole->path);
    break;
  }
  if (whole && whole->status == 200) {
    require(!whole->method.empty() && whole->path.starts_with('/'));
    for (const char c : whole->method + whole->path) require(c > ' ' && c < 0x7F);
  }
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> list;
  for (const std::string_view text :
       {"GET /metrics HTTP/1.1\r\nHost: here:9917\r\nAccept: */*\r\n\r\n", "HEAD /metrics?x=1 HTTP/1.0\n\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"}) {
    const auto bytes = base::as_bytes(text);
    list.emplace_back(bytes.begin(), bytes.end());
  }
  return list;
}

}  // namespace perdure::fuzz
