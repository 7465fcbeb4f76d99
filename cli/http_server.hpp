#pragma once
// A few connections at a time on one thread: whoever is slow, silent or wrong keeps nobody waiting.
#include <functional>

#include "cli/http_message.hpp"
#include "os/tcp.hpp"

namespace perdure::cli {

struct HttpLimits {
  std::size_t connections = 64;                ///< further ones wait until one ends
  std::uint64_t patience_ns = 10'000'000'000;  ///< for a whole exchange
};

/// Serves GET and HEAD; `answer` says what a path has, and is called by this thread. Others are refused with 405, and
/// what is no request with the status that says why. Returns when `stop` can be read; an error when it cannot go on.
base::Status serve_http(const os::Fd& listener, const os::Fd& stop,
                        const std::function<HttpReply(const std::string& path)>& answer, HttpLimits limits = {});

}  // namespace perdure::cli
