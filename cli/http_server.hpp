#pragma once
// Serves a few connections at a time on one thread: a slow, silent or faulty client does not delay the others. Answers
// are made one after the other.
#include <functional>
#include <optional>

#include "cli/http_message.hpp"
#include "os/system.hpp"
#include "os/tcp.hpp"

namespace perdure::cli {

struct HttpLimits {
  std::size_t connections = 64;                ///< further ones wait until one ends
  std::uint64_t patience_ns = 10'000'000'000;  ///< for a whole exchange, without the time that answers take
  std::function<std::uint64_t()> now_ns = os::monotonic_ns;
};

/// The page that `make` gives, kept for `keep_ns`: all requests of a burst get the same one.
class KeptReply {
 public:
  KeptReply(std::function<HttpReply()> make, std::uint64_t keep_ns,
            std::function<std::uint64_t()> now_ns = os::monotonic_ns)
      : make_(std::move(make)), keep_ns_(keep_ns), now_ns_(std::move(now_ns)) {}
  const HttpReply& get();

 private:
  std::function<HttpReply()> make_;
  std::uint64_t keep_ns_;
  std::function<std::uint64_t()> now_ns_;
  std::optional<HttpReply> kept_;
  std::uint64_t made_ns_ = 0;
};

/// Serves GET and HEAD; `answer` gives the content of a path, and is called by this thread. Other methods are refused
/// with 405, and malformed requests with the status that says why. Returns when `stop` can be read, which is looked at
/// before each answer; an error when it cannot go on.
base::Status serve_http(const os::Fd& listener, const os::Fd& stop,
                        const std::function<HttpReply(const std::string& path)>& answer, HttpLimits limits = {});

}  // namespace perdure::cli
