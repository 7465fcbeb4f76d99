#pragma once
// Sets damaged segments aside in a store of objects. Inside this module only.
#include "store/objects.hpp"
#include "store/store.hpp"

namespace perdure::store {

/// Copies the damaged segment that `there` describes into quarantine, with a report. The segment stays in its place.
base::Status put_aside(Objects& objects, const ObjectInfo& there, const segment::VersionId& id, const base::Error& why);

/// See Store::quarantine. An empty object takes the segment's place, so that nobody loses what is published there next.
base::Status quarantine_object(Objects& objects, const SegmentRef& segment, const segment::VersionId& id,
                               const base::Error& why);

/// The segments of a checkpoint in quarantine.
base::Result<std::vector<QuarantinedSegment>> quarantined_objects(Objects& objects, const std::string& name);

}  // namespace perdure::store
