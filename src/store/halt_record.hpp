#pragma once
// When the programs that write a name are to checkpoint and end. For stores that are directories: the file `.halt` in
// the name's, one line, "halt" and nanoseconds of the wall clock.
#include <cstdint>
#include <string>

#include "store/store.hpp"

namespace perdure::store {

/// 0: nobody has asked for that, or the store keeps no such thing. PERDURE_CORRUPT: it says something else. A request
/// of another user than this one and the administrator is none.
base::Result<std::uint64_t> halt_at(const Store& store, const std::string& name);
/// 0 takes it back. Repeatable. PERDURE_NOT_FOUND: there is nothing of that name; PERDURE_UNSUPPORTED: the store keeps
/// no such thing.
base::Status set_halt(const Store& store, const std::string& name, std::uint64_t at_ns);

}  // namespace perdure::store
