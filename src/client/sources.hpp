#pragma once
// Rank 0 finds the store's versions of a name, and these describe them.
#include <optional>
#include <string>
#include <vector>

#include "base/runs.hpp"
#include "client/known_versions.hpp"
#include "plan/layout.hpp"
#include "store/store.hpp"

namespace perdure::client {

/// A segment in the store whose manifest verified, and the ranks in it.
struct StoredSegment {
  store::SegmentRef ref;
  base::Runs<std::uint32_t> ranks;
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

/// A segment in which one reader found damage. (second_reading.hpp)
struct Suspect {
  segment::VersionId id;
  store::SegmentRef ref;
  base::Error why;
  std::uint32_t rank = 0;  ///< rank whose chunk is damaged
  std::optional<std::uint32_t> chunk =
      {};  ///< the damaged chunk; nothing: header, manifest, a table or trailer is damaged
  PERDURE_FIELDS(id, ref, why, rank, chunk)
};

/// A segment that lies in quarantine.
struct SegmentAside {
  segment::VersionId id;
  std::uint32_t index = 0, count = 0;
  PERDURE_FIELDS(id, index, count)
};

struct StoreView {
  std::vector<StoredVersionView> versions;
  std::optional<base::Error> unreadable = {};    ///< why some of it, or all, could not be read
  std::vector<Suspect> suspects = {};            ///< suspects of the versions; they are not among their segments
  std::uint64_t forgotten_ns = 0;                ///< attempts up to this time are gone (store::Store::forget)
  std::vector<SegmentAside> aside = {};          ///< quarantined segments of attempts that were looked at
  std::vector<segment::VersionId> leaving = {};  ///< attempts whose segments went meanwhile: removed, or set aside
  plan::Line line = {};                          ///< the line that numbers of versions mean; empty: all branches
  const StoredVersionView* find(const segment::VersionId& id) const;
  /// Its segments there; none if it is not there.
  std::vector<plan::SegmentPart> parts_of(const segment::VersionId& id) const;
  PERDURE_FIELDS(versions, unreadable, suspects, forgotten_ns, aside, leaving, line)
};

struct ReadSegment {
  StoredSegment segment;
  std::uint32_t ranks = 0;  ///< ranks of the version
};
/// Reads a segment's manifest. PERDURE_CORRUPT when that is damaged, or another segment's.
base::Result<ReadSegment> read_segment(const segment::ByteSource& source, const segment::VersionId& id,
                                       const store::SegmentRef& ref);

/// Lists the attempts at versions of `name` in the store; none if there is no such name, or no store yet. `known`: if
/// the store was there when this job looked, and is not there now, it has vanished: PERDURE_UNAVAILABLE.
base::Result<std::vector<store::VersionListing>> list_versions(store::Store& store, const std::string& name,
                                                               KnownVersions& known);

/// Adds one attempt to `view` with the segments whose manifests verify. A segment that is damaged twice, the second
/// time read past this machine's page cache, is a suspect.
void view_stored(store::Store& store, const store::VersionListing& listing, StoreView& view);

}  // namespace perdure::client
