#pragma once
// A halt record says when the programs that write a name are to checkpoint and end. For stores that are directories, it
// is the file `.halt` in the name's: one line, "halt" and nanoseconds of the wall clock.
#include <cstdint>
#include <string>

#include "store/store.hpp"

namespace perdure::store {

/// Gives the time. 0: there is no request, or the store keeps none. PERDURE_CORRUPT: the file has another content. A
/// request counts only if it is of this user or the administrator.
base::Result<std::uint64_t> halt_at(const Store& store, const std::string& name);
/// Sets the time; 0 takes the request back. Repeatable. PERDURE_NOT_FOUND: nothing has that name. PERDURE_UNSUPPORTED:
/// the store keeps no requests.
base::Status set_halt(const Store& store, const std::string& name, std::uint64_t at_ns);

}  // namespace perdure::store
