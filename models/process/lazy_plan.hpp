#pragma once
// Decides which pages of an image may come after the process runs. Pure.
#include <vector>

#include "capture/source.hpp"
#include "process/image.hpp"

namespace perdure::process {

/// Returns private anonymous memory whose pages the kernel can request from us, ascending. It leaves out locked memory
/// and memory that children find empty. It also leaves out memory with a policy: late pages would go to the policy's
/// node instead of their old one.
std::vector<PageRun> lazy_maps(const ProcessImage& image);

/// Returns ranges of the capture, ascending, with pages that must come first. These are pages of other memory, and
/// those that the kernel or the first instruction of a thread needs at once. `record_bytes` precede all pages.
std::vector<capture::ChunkRange> needed_first(const ProcessImage& image, const std::vector<PageRun>& maps,
                                              std::uint64_t record_bytes);

/// Adds a range to ascending, disjoint ones. They stay so.
void add_range(std::vector<capture::ChunkRange>& ranges, capture::ChunkRange added);
/// Returns the parts of `whole` that are not in `ranges`.
std::vector<capture::ChunkRange> without(capture::ChunkRange whole, const std::vector<capture::ChunkRange>& ranges);

}  // namespace perdure::process
