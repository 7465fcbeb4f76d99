#pragma once
// What the store has of the versions of a name, as rank 0 found it.
#include <optional>
#include <string>
#include <vector>

#include "plan/layout.hpp"
#include "store/store.hpp"

namespace perdure::client {

/// A segment in the store whose manifest verified, and the ranks in it.
struct StoredSegment {
  store::SegmentRef ref;
  std::vector<std::uint32_t> ranks;
  PERDURE_FIELDS(ref, ranks)
};

/// One attempt at a version in the store, as rank 0 found it.
struct StoredVersionView {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  std::vector<StoredSegment> segments;
  const StoredSegment* segment_of(std::uint32_t rank) const;
  PERDURE_FIELDS(id, ranks, segments)
};

/// Reads the manifests of one attempt; those that verify are in the view, damaged segments go to quarantine.
/// `unreadable` is set to the reason when something could not be read at all.
StoredVersionView view_stored(store::Store& store, const store::VersionListing& listing,
                              std::optional<base::Error>& unreadable);

struct StoreView {
  std::vector<StoredVersionView> versions;
  std::optional<base::Error> unreadable = {};  ///< why some of it, or all, could not be read
  const StoredVersionView* find(const segment::VersionId& id) const;
  /// Its segments there; none if it is not there.
  std::vector<plan::SegmentPart> parts_of(const segment::VersionId& id) const;
  PERDURE_FIELDS(versions, unreadable)
};

}  // namespace perdure::client
