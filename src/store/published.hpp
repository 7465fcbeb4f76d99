#pragma once
// What a store finds under the name of a segment that it is about to publish. Inside this module only.
#include "segment/reader.hpp"

namespace perdure::store {

/// Success exactly when `published` is whole, every byte of it read and verified, and has the content of `mine`: the
/// same ranks with the same regions and chunks. PERDURE_CORRUPT when it is damaged, PERDURE_EXISTS when it is another
/// segment: then neither may take the other's place.
base::Status check_published(const segment::ByteSource& published, const segment::ByteSource& mine);

/// The same for a segment of which only the description is known: its ranks, regions and lengths, not yet its content.
base::Status check_published(const segment::ByteSource& published, const segment::Manifest& described);

}  // namespace perdure::store
