#pragma once
// Finds pages that have only zeros. Images leave them out, because untouched memory reads as zeros too.
#include <sys/types.h>

#include <vector>

#include "process/image.hpp"

namespace perdure::process {

// Only whole blocks (kBlockBytes) are examined; one word rules out most of them. A shorter gap between other pages
// would cost a run of its own.

bool only_zeros(base::ConstByteSpan bytes);

/// Splits the pages of an image at block boundaries, in the order of the image. It includes only memory that is zero
/// when untouched. Private file mappings are left out: untouched, they show the file.
std::vector<PageRun> blocks_of(const ProcessImage& image);
/// Returns those of `blocks` that have only zeros, in order. Unreadable blocks are left out. The process must stand
/// still.
std::vector<PageRun> zero_blocks(pid_t process, const std::vector<PageRun>& blocks, unsigned threads);
/// Returns the pages of an image without `zeros`, which are in its order. The result has at most `most_runs` runs, so
/// some of `zeros` may stay. Pure.
std::vector<NodePages> pages_without(const std::vector<NodePages>& pages, const std::vector<PageRun>& zeros,
                                     std::size_t most_runs);

}  // namespace perdure::process
