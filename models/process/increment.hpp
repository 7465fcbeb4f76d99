#pragma once
// Finds the pages of an image that an earlier image of the same name already has. Pure. (docs/adr/0041)
#include <vector>

#include "process/image.hpp"
#include "segment/borrowed.hpp"

namespace perdure::process {

/// Splits these pages at block boundaries (kBlockBytes), in their order. A run may begin or end within a block.
std::vector<PageRun> blocks_of_pages(const std::vector<NodePages>& pages);

/// A stored image, with the facts that a borrower needs.
struct StoredImage {
  Lender lender;
  std::uint64_t record_bytes = 0;  ///< position of its pages in its capture
  ProcessImage image;
};

/// Returns `image` without pages that have the same mark in `before`. It borrows them from there, or from the image
/// where that one has them. `marks` are those of its blocks, in order, by `key`. Returns the whole image with its marks
/// in these cases:
/// - `before` is missing or has another key,
/// - more than half would be stored anyway,
/// - it would have more than `most_lenders`, or more runs than an image may have.
ProcessImage shortened(ProcessImage image, std::vector<std::byte> key, std::vector<std::byte> marks,
                       const StoredImage* before, std::size_t most_lenders);

/// Returns the segments of its lenders; an image is one segment.
std::vector<segment::Borrowed> lent_segments(const Increment& increment);

}  // namespace perdure::process
