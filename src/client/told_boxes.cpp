#include "client/told_boxes.hpp"

#include "array/box_code.hpp"
#include "base/field_codec.hpp"

namespace perdure::client {

using BoxesByArray = std::vector<std::vector<std::byte>>;

std::vector<array::Box> boxes_of(const capture::ArrayPart& part) {
  std::vector<array::Box> boxes;
  for (const auto& lies : part.memory()) boxes.push_back(lies.box);
  return boxes;
}

std::vector<std::byte> tell_boxes(const capture::RegionTable& regions) {
  BoxesByArray told;
  each_global(regions, [&](std::int32_t, const capture::ArrayPart& part) {
    told.push_back(array::encode_boxes(boxes_of(part)));
  });
  return base::encode_fields(told);
}

std::vector<array::Box> wholes_of(const capture::RegionTable& regions) {
  std::vector<array::Box> wholes;
  each_global(regions, [&](std::int32_t, const capture::ArrayPart& part) { wholes.push_back(part.array().whole); });
  return wholes;
}

base::Status each_told(base::ConstByteSpan bytes, const std::vector<array::Box>& wholes,
                       const std::function<void(std::size_t number, const std::vector<array::Box>& boxes)>& use) {
  PERDURE_TRY(const auto told, base::decode_fields<BoxesByArray>(bytes, "declarations"));
  if (told.size() != wholes.size())
    return base::fail(
        PERDURE_CORRUPT, "declarations",
        "a rank tells boxes of " + std::to_string(told.size()) + " arrays, not of " + std::to_string(wholes.size()));
  for (std::size_t i = 0; i < told.size(); ++i) {
    PERDURE_TRY(const auto boxes, array::decode_boxes(told[i], wholes[i], array::kMostBoxes, "declarations"));
    use(i, boxes);
  }
  return {};
}

}  // namespace perdure::client
