#pragma once
// Work in a process of its own, with a directory of its own, of which nothing remains whoever dies: neither when the
// work crashes or hangs, nor when this process is killed.
#include <functional>
#include <string>

#include "base/cbor.hpp"

namespace perdure::studies {

/// Forks; `work` gets a new private directory (in memory where a file system has room there), in which it also works,
/// an environment without PERDURE_*, and no handles of this process. What it returns comes back; after `timeout_s` it
/// is killed: PERDURE_TIMEOUT. PERDURE_PEER_FAILED when it died. To be called by a process without other threads.
base::Result<base::Json> run_supervised(double timeout_s,
                                        const std::function<base::Result<base::Json>(const std::string&)>& work);

}  // namespace perdure::studies
