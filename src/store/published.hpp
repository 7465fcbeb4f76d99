#pragma once
// Compares a segment that is to be published with the one that already has its name. Use it inside this module only.
#include "segment/reader.hpp"

namespace perdure::store {

/// Succeeds exactly when `published` is intact and has the content of `mine`: the same ranks with the same regions and
/// chunks. Every byte of it is read and verified. PERDURE_CORRUPT when it is damaged. PERDURE_EXISTS when it is another
/// segment: then neither may take the other's place.
base::Status check_published(const segment::ByteSource& published, const segment::ByteSource& mine);

/// Does the same for a segment that is only described: its ranks, regions and lengths are known, but not its content.
base::Status check_published(const segment::ByteSource& published, const segment::Manifest& described);

}  // namespace perdure::store
