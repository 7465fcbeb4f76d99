#pragma once
// Sends signed requests of an object store over HTTP, by libcurl. Inside this module only.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::store {

struct HttpRequest {
  std::string method;                ///< "GET", "HEAD", "PUT", "POST", "DELETE"
  std::string url;                   ///< encoded; its query is sorted, as the signature asks
  std::vector<std::string> headers;  ///< "name: value"
  base::ConstByteSpan body = {};
  base::ByteSpan target = {};  ///< GET: the body of a successful answer goes there, if it has this size
};

struct HttpAnswer {
  long status = 0;
  std::map<std::string, std::string> headers;  ///< names in small letters
  std::string body;                            ///< what did not go to the request's target
  std::uint64_t received = 0;                  ///< bytes in the target
};

/// Signs requests after AWS Signature Version 4. Empty: sends them unsigned.
struct HttpSigning {
  std::string region, key, secret;
};

struct HttpLimits {
  std::uint64_t connect_ns = 10'000'000'000;
  std::uint64_t silence_ns = 30'000'000'000;  ///< without a byte, before a request fails
  std::string certificates = {};              ///< file of certificate authorities; empty: the system's
};

/// Any thread may send. Connections are kept for the next requests.
class HttpClient {
 public:
  explicit HttpClient(HttpLimits limits);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  /// Fails with PERDURE_UNAVAILABLE, retryable, if no whole answer came; any status is an answer.
  base::Result<HttpAnswer> send(const HttpRequest& request, const HttpSigning& signing);

 private:
  struct Connections;
  const HttpLimits limits_;
  const std::unique_ptr<Connections> connections_;
};

}  // namespace perdure::store
