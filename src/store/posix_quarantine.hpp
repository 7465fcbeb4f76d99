#pragma once
// Implements the quarantine of a posix store. Use it inside this module only.
#include "store/posix_place.hpp"
#include "store/store.hpp"

namespace perdure::store {

base::Status quarantine_segment(const PosixPlace& place, const SegmentRef& segment, const segment::VersionId& id,
                                const base::Error& why);

/// Finishes the work of a process that died between its two renames, for this checkpoint. An intact segment is put
/// back; a damaged one stays in quarantine.
base::Status finish_quarantine(const PosixPlace& place, const std::string& name);

/// Lists the segments in quarantine whose file names say that they were of this checkpoint.
base::Result<std::vector<QuarantinedSegment>> quarantined_segments(const PosixPlace& place, const std::string& name);

}  // namespace perdure::store
