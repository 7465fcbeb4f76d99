#pragma once
// Quarantine of a posix store. Inside this module only.
#include "store/posix_place.hpp"
#include "store/store.hpp"

namespace perdure::store {

base::Status quarantine_segment(const PosixPlace& place, const SegmentRef& segment, const segment::VersionId& id,
                                const base::Error& why);

/// Of this checkpoint: what a process that died between its two renames left is put back where it is whole, and stays
/// in quarantine where it is not.
base::Status finish_quarantine(const PosixPlace& place, const std::string& name);

/// The segments in quarantine whose file names say that they were of this checkpoint.
base::Result<std::vector<QuarantinedSegment>> quarantined_segments(const PosixPlace& place, const std::string& name);

}  // namespace perdure::store
