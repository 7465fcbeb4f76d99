#pragma once
// Keeps when the programs that write a name are to checkpoint and end: one line, "halt" and nanoseconds of the wall
// clock. Stores keep the line beside the name's versions (Records).
#include <cstdint>
#include <string>
#include <string_view>

#include "store/store.hpp"

namespace perdure::store {

inline constexpr std::size_t kMostHaltBytes = 64;
/// Writes the line. It has the number twice, the second time as its hash: a flipped bit must not make a program end at
/// another time.
std::string halt_text(std::uint64_t at_ns);
/// Reads the line. Fails with PERDURE_CORRUPT about `path` if it says anything else.
base::Result<std::uint64_t> parse_halt(std::string_view text, const std::string& path);

/// Calls Records::halt of any store; 0 for one that keeps no records.
base::Result<std::uint64_t> halt_at(Store& store, const std::string& name);
/// Calls Records::set_halt of any store. Fails with PERDURE_UNSUPPORTED if it keeps no records.
base::Status set_halt(Store& store, const std::string& name, std::uint64_t at_ns);

}  // namespace perdure::store
