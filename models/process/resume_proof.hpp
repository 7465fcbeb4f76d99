#pragma once
// Proves that an image can be resumed, before the capture is reported. (docs/adr/0055)
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "process/image.hpp"
#include "process/machine_facts.hpp"
#include "segment/manifest.hpp"

namespace perdure::process {

/// Decodes the record of a capture as a resume does, and compares the result with what was stored.
base::Status prove_record(base::ConstByteSpan record, const std::vector<segment::RegionEntry>& entries);

/// Plans the resume of `image` on this machine. A temporary child of ours takes the registers and kernel state of each
/// thread. `facts` are from facts_where_captured(), while the process stood still; it may run again by now.
/// PERDURE_UNSUPPORTED: names the state that cannot be resumed.
base::Status prove_resumable(const ProcessImage& image, const MachineFacts& facts);

/// Returns whether its address space leaves room for the memory that the making needs. Pure.
bool leaves_room(const ProcessImage& image);

}  // namespace perdure::process
