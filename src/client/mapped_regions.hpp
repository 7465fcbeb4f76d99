#pragma once
// Checks that the memory of protected regions is still mapped: a program may free it without unprotecting it. Each call
// asks the system once for all regions that lie near each other. A small checkpoint takes one to three questions more.
#include <optional>
#include <span>

#include "capture/region.hpp"

namespace perdure::client {

/// A restore may fill ghosts, too.
enum class MemoryUse { capture, fill };

/// PERDURE_INVALID_ARGUMENT, naming a region of which a part is not mapped any more: a copy of it would end the program
/// by SIGSEGV. Memory between the rows of an array may be missing. `ids`: checks these protected regions; nothing:
/// checks all.
base::Status check_mapped(const capture::RegionTable& table, MemoryUse use,
                          const std::optional<std::span<const std::int32_t>>& ids = std::nullopt);
/// Does the same for one region.
base::Status check_mapped(const capture::Region& region, MemoryUse use);

}  // namespace perdure::client
