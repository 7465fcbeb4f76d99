#pragma once
// Regions whose owner, such as a container, says where its elements are: what an answer means. Pure. (docs/adr/0049)
#include <optional>

#include "capture/region.hpp"

namespace perdure::capture {

/// All elements that the owner of a region has, of which the region is all or some.
struct OwnedElements {
  std::byte* address = nullptr;
  std::uint64_t count = 0;  ///< of the size that the region's have
  friend bool operator==(const OwnedElements&, const OwnedElements&) = default;
};

/// PERDURE_INVALID_ARGUMENT: a region is not within what its owner has.
base::Status check_owner(const Region& region, const OwnedElements& has);

/// A region is not any more where its owner said that it was.
bool has_left(const OwnedElements& before, const OwnedElements& now);

/// Where a region is whose owner had `before` when it was there; nothing: where it was. What is all of its owner's
/// elements may have another count, unless ranks have it together: a list may have other rows, no other array may.
/// PERDURE_INVALID_ARGUMENT: it cannot be followed. So is an owner without elements that had some: nobody can tell what
/// was cleared from what was moved to another owner.
base::Result<std::optional<Region>> followed(const Region& region, const OwnedElements& before,
                                             const OwnedElements& now);

}  // namespace perdure::capture
