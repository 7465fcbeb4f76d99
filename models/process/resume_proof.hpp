#pragma once
// A capture proves that it can be brought back before anybody is told that there is one. (docs/adr/0055)
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "process/image.hpp"
#include "segment/manifest.hpp"

namespace perdure::process {

/// What the record of a capture says is decoded as a resume decodes it, and is what was stored. `record`: its bytes.
base::Status prove_record(base::ConstByteSpan record, const std::vector<segment::RegionEntry>& entries);

/// The resume of `image` is planned on this machine, and a child of ours, which ends again, gets the registers of each
/// of its threads and what the kernel is to keep for it. PERDURE_UNSUPPORTED names what could not be brought back. Of a
/// process that stands still; nothing of it changes.
base::Status prove_resumable(const ProcessImage& image);

/// Whether its addresses leave room for what makes it. Pure.
bool leaves_room(const ProcessImage& image);

}  // namespace perdure::process
