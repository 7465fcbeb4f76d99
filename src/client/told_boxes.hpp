#pragma once
// Ranks tell each other their boxes, once they know that they mean the same arrays: no names, types or extents. At
// 524,288 ranks these would be most of the message. (docs/adr/0056)
#include <functional>
#include <vector>

#include "capture/region.hpp"

namespace perdure::client {

/// Encodes the boxes of a rank in each of its global arrays, by id; the result is never empty.
std::vector<std::byte> tell_boxes(const capture::RegionTable& regions);

/// Gives the whole box of each global array of `regions`, by id.
std::vector<array::Box> wholes_of(const capture::RegionTable& regions);

/// Calls `use(number, boxes)` for each of these arrays, with the boxes in tell_boxes()'s result. PERDURE_CORRUPT: the
/// bytes do not fit.
base::Status each_told(base::ConstByteSpan bytes, const std::vector<array::Box>& wholes,
                       const std::function<void(std::size_t number, const std::vector<array::Box>& boxes)>& use);

/// Calls `use(id, part)` for each global array, by id.
template <class Use>
void each_global(const capture::RegionTable& regions, Use use) {
  for (const auto& [id, region] : regions.regions())
    if (region.part && region.part->array().kind == segment::ArrayKind::global) use(id, *region.part);
}

std::vector<array::Box> boxes_of(const capture::ArrayPart& part);

}  // namespace perdure::client
