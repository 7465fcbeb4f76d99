#pragma once
// Whether the memory of protected regions is still there: a program may free it and forget to say so. Each call asks
// the system once for all that lies near each other, so that a small checkpoint takes one to three questions more.
#include <optional>
#include <span>

#include "capture/region.hpp"

namespace perdure::client {

/// A restore may fill ghosts, too.
enum class MemoryUse { capture, fill };

/// PERDURE_INVALID_ARGUMENT, with a region of which a part is not mapped any more: a copy of it would end the program
/// by SIGSEGV. What lies between the rows of an array may be missing. `ids`: of those that are protected; nothing: of
/// all.
base::Status check_mapped(const capture::RegionTable& table, MemoryUse use,
                          const std::optional<std::span<const std::int32_t>>& ids = std::nullopt);
/// The same of one.
base::Status check_mapped(const capture::Region& region, MemoryUse use);

}  // namespace perdure::client
