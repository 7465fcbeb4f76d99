#pragma once
// A capture proves that it can be brought back before anybody is told that there is one. (docs/adr/0055)
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "process/image.hpp"
#include "segment/manifest.hpp"

namespace perdure::process {

/// Decodes the bytes of a capture's record as a resume does, and compares the result with what was stored.
base::Status prove_record(base::ConstByteSpan record, const std::vector<segment::RegionEntry>& entries);

/// The resume of `image` is planned on this machine, and a child of ours, which ends again, gets the registers of each
/// of its threads and what the kernel is to keep for it. PERDURE_UNSUPPORTED names what could not be brought back. The
/// process of `image` stands still, and does not change.
base::Status prove_resumable(const ProcessImage& image);

/// Whether its addresses leave room for what makes it. Pure.
bool leaves_room(const ProcessImage& image);

}  // namespace perdure::process
