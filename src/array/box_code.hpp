#pragma once
// Boxes as bytes, for a manifest: a sequence of products of intervals. What a block has is one product of one interval
// in each dimension, what a block-cyclic rank has one product of a few runs of equal intervals. Pure.
// (docs/format/segment.md)
#include <vector>

#include "array/box.hpp"
#include "base/bytes.hpp"

namespace perdure::array {

inline constexpr std::size_t kMostBoxes = 1'000'000;  ///< of one rank in one array

/// In this order. They have as many dimensions.
std::vector<std::byte> encode_boxes(const std::vector<Box>& boxes);

/// PERDURE_CORRUPT about `object`: these bytes do not describe at most `most` boxes, none empty, inside of `whole`.
base::Result<std::vector<Box>> decode_boxes(base::ConstByteSpan bytes, const Box& whole, std::size_t most,
                                            const std::string& object);

}  // namespace perdure::array
