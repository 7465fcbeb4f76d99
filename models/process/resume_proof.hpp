#pragma once
// A capture proves that it can be brought back before anybody is told that there is one. (docs/adr/0055)
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "process/image.hpp"
#include "process/machine_facts.hpp"
#include "segment/manifest.hpp"

namespace perdure::process {

/// Decodes the bytes of a capture's record as a resume does, and compares the result with what was stored.
base::Status prove_record(base::ConstByteSpan record, const std::vector<segment::RegionEntry>& entries);

/// Plans the resume of `image` on this machine, and gives a child of ours, which ends again, the registers of each of
/// its threads and what the kernel is to keep for it. PERDURE_UNSUPPORTED names what could not be brought back.
/// `facts`: as they were while its process stood still (facts_where_captured()), which may run again by now.
base::Status prove_resumable(const ProcessImage& image, const MachineFacts& facts);

/// Whether its addresses leave room for what makes it. Pure.
bool leaves_room(const ProcessImage& image);

}  // namespace perdure::process
