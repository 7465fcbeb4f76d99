#pragma once
// Pages that hold nothing but zeros: no image has them, because memory that nobody has touched holds the same.
#include <sys/types.h>

#include <vector>

#include "process/image.hpp"

namespace perdure::process {

// Whole blocks (kBlockBytes) are looked at: one word of each says of most that it is none. What is shorter than a block
// and lies between other pages would cost a run of its own.

bool only_zeros(base::ConstByteSpan bytes);

/// What of the pages of an image lies in one block each, in the order of the image, where untouched memory is zero:
/// of private mappings of files nothing, which show the file there.
std::vector<PageRun> blocks_of(const ProcessImage& image);
/// Those of `blocks` that hold only zeros, in their order. The process stands still. What cannot be read is none.
std::vector<PageRun> zero_blocks(pid_t process, const std::vector<PageRun>& blocks, unsigned threads);
/// The pages of an image without `zeros`, which are in its order; at most `most_runs` of them all, for which some of
/// `zeros` may stay. Pure.
std::vector<NodePages> pages_without(const std::vector<NodePages>& pages, const std::vector<PageRun>& zeros,
                                     std::size_t most_runs);

}  // namespace perdure::process
