#pragma once
// Interprets the answers of a region's owner, such as a container, about the place of its elements. Pure.
// (docs/adr/0049)
#include <optional>

#include "capture/region.hpp"

namespace perdure::capture {

/// All elements that the owner of a region has; the region is all or some of them.
struct OwnedElements {
  std::byte* address = nullptr;
  std::uint64_t count = 0;  ///< of the size of the region's elements
  friend bool operator==(const OwnedElements&, const OwnedElements&) = default;
};

/// Fails with PERDURE_INVALID_ARGUMENT if a region is not within its owner's elements.
base::Status check_owner(const Region& region, const OwnedElements& has);

/// Whether a region has left the place that its owner named.
bool has_left(const OwnedElements& before, const OwnedElements& now);

/// Returns the new place of a region whose owner had `before` when it was placed; nothing if it has not moved. A region
/// that is all of its owner's elements may have another count, unless ranks share it. A list may have other rows, no
/// other array may. PERDURE_INVALID_ARGUMENT if it cannot be followed. That includes an owner that has lost all
/// elements: they may be cleared, or moved to another owner.
base::Result<std::optional<Region>> followed(const Region& region, const OwnedElements& before,
                                             const OwnedElements& now);

}  // namespace perdure::capture
