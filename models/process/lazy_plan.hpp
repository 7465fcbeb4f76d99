#pragma once
// Which pages of an image may come when the process runs already. Pure.
#include <vector>

#include "capture/source.hpp"
#include "process/image.hpp"

namespace perdure::process {

/// Memory of the process's own whose pages the kernel can ask us for, ascending. Not files' and not shared memory, not
/// what is locked, not what children find empty, and none that has a policy: pages that come later would go where that
/// says, and not where they were.
std::vector<PageRun> lazy_maps(const ProcessImage& image);

/// Bytes of the capture, ascending, of pages that must be there before: those of other memory, and what the kernel, or
/// each thread's first instruction, needs at once. `record_bytes` come before all pages.
std::vector<capture::ChunkRange> needed_first(const ProcessImage& image, const std::vector<PageRun>& maps,
                                              std::uint64_t record_bytes);

/// Adds a range to others, which do not overlap and are ascending, and stay so.
void add_range(std::vector<capture::ChunkRange>& ranges, capture::ChunkRange added);
/// What of `whole` is not in `ranges`.
std::vector<capture::ChunkRange> without(capture::ChunkRange whole, const std::vector<capture::ChunkRange>& ranges);

}  // namespace perdure::process
