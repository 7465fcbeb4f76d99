#pragma once
// Runs work in its own process and directory, and leaves nothing behind: not if the work crashes or hangs, nor if this
// process is killed.
#include <functional>
#include <string>

#include "base/cbor.hpp"

namespace perdure::studies {

/// Forks; `work` gets a new private directory, in memory if a file system has room there. It runs in that directory,
/// without PERDURE_* variables and without handles of this process. Returns its result. After `timeout_s` it is killed:
/// PERDURE_TIMEOUT. PERDURE_PEER_FAILED if it died. The calling process must have no other threads.
base::Result<base::Json> run_supervised(double timeout_s,
                                        const std::function<base::Result<base::Json>(const std::string&)>& work);

}  // namespace perdure::studies
