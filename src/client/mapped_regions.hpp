#pragma once
// Whether the memory of protected regions is still there: a program may free it and forget to say so.
#include <span>

#include "capture/region.hpp"

namespace perdure::client {

/// Smaller regions are not looked at: what frees them keeps their memory, and a table may have a million of them.
inline constexpr std::uint64_t kLookedAtFrom = 64 * base::KiB;

/// PERDURE_INVALID_ARGUMENT, with the first region of which a part is not mapped any more: a copy of it would end the
/// program by SIGSEGV. Does not look at parts of arrays whose boxes have gaps.
base::Status check_mapped(const capture::RegionTable& table);
/// The same of those regions of `ids` that are protected.
base::Status check_mapped(const capture::RegionTable& table, std::span<const std::int32_t> ids);

}  // namespace perdure::client
