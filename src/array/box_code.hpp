#pragma once
// Encodes boxes for a manifest: a sequence of products of intervals. A block is one product of one interval in each
// dimension. The boxes of a block-cyclic rank are one product of a few runs of equal intervals. Pure.
// (docs/format/segment.md)
#include <vector>

#include "array/box.hpp"
#include "base/bytes.hpp"

namespace perdure::array {

inline constexpr std::size_t kMostBoxes = 1'000'000;  ///< of one rank in one array

/// Encodes boxes in this order. They have as many dimensions.
std::vector<std::byte> encode_boxes(const std::vector<Box>& boxes);

/// Fails with PERDURE_CORRUPT about `object` unless the bytes describe at most `most` boxes, none empty, inside of
/// `whole`.
base::Result<std::vector<Box>> decode_boxes(base::ConstByteSpan bytes, const Box& whole, std::size_t most,
                                            const std::string& object);

}  // namespace perdure::array
