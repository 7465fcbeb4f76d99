#pragma once
// Reads one object, as long as nobody replaces it. Inside this module only.
#include "segment/reader.hpp"
#include "store/objects.hpp"

namespace perdure::store {

/// PERDURE_NOT_FOUND: there is none, or only the empty object that a segment in quarantine leaves.
base::Result<std::unique_ptr<segment::ByteSource>> open_object(std::shared_ptr<Objects> objects,
                                                               const std::string& key);

/// Copies the object that `there` describes to a key that only the caller uses. PERDURE_EXISTS: that is taken.
base::Status copy_object(Objects& objects, const ObjectInfo& there, const std::string& to);

}  // namespace perdure::store
