#pragma once
// A segment that a version has, or will have, in the store.
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace perdure::ipc {

struct PlannedSegment {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> ranks;
  PERDURE_FIELDS(index, count, ranks)
  std::string wrong() const { return index < count ? "" : "field 'index': a segment's index is not below its count"; }
};

}  // namespace perdure::ipc
