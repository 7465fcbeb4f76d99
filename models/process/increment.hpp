#pragma once
// Which pages of an image an earlier one of the same name has already. Pure. (docs/adr/0041)
#include <vector>

#include "process/image.hpp"
#include "segment/borrowed.hpp"

namespace perdure::process {

/// The blocks of these pages, in their order: what of a run lies in one block (kBlockBytes). Of one whose run begins or
/// ends within it less than the whole.
std::vector<PageRun> blocks_of_pages(const std::vector<NodePages>& pages);

/// An image that was stored, and what of it another one needs to borrow from it.
struct StoredImage {
  Lender lender;
  std::uint64_t record_bytes = 0;  ///< before its pages, in its capture
  ProcessImage image;
};

/// `image`, whose blocks have `marks`, in their order, by this key: without the pages that `before` has with equal
/// marks, which it borrows from there or from where that one has them. As it is, with its marks, where `before` has
/// other keys or none, where more than half would be stored anyway, and where it would have more than `most_lenders`
/// or more runs than an image may have.
ProcessImage shortened(ProcessImage image, std::vector<std::byte> key, std::vector<std::byte> marks,
                       const StoredImage* before, std::size_t most_lenders);

/// The segments that its lenders are: an image is one segment.
std::vector<segment::Borrowed> lent_segments(const Increment& increment);

}  // namespace perdure::process
