#pragma once
// What is known about where a version can be restored from. Data only.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "plan/layout.hpp"
#include "plan/recovery.hpp"
#include "store/store.hpp"
#include "tier/tier.hpp"

namespace perdure::session {

/// A segment in the store whose manifest verified, and the ranks in it.
struct StoredSegment {
  store::SegmentRef ref;
  std::vector<std::uint32_t> ranks;
};

/// One attempt at a version in the store, as rank 0 found it.
struct StoredVersionView {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  std::vector<StoredSegment> segments;
  const StoredSegment* segment_of(std::uint32_t rank) const;
};

/// Reads the manifests of one attempt; those that verify are in the view, damaged segments go to quarantine.
/// `unreadable` is set to the reason when something could not be read at all.
StoredVersionView view_stored(store::Store& store, const store::VersionListing& listing,
                              std::optional<base::Error>& unreadable);

struct StoreView {
  std::vector<StoredVersionView> versions;
  const StoredVersionView* find(const segment::VersionId& id) const;
  /// Its segments there; none if it is not there.
  std::vector<plan::StoredPart> parts_of(const segment::VersionId& id) const;
};

base::Json to_json(const StoreView& view);
base::Result<StoreView> store_view_from_json(const base::Json& json);

/// The version that the ranks agreed on.
struct Selected {
  segment::VersionId id;
  bool in_tier = false;                         ///< this rank's piece is on this node
  std::optional<StoredSegment> in_store;        ///< the segment that has this rank's piece
  std::vector<plan::PieceSource> sources = {};  ///< by rank, where engines reach each other; the same on all ranks
  std::optional<std::vector<plan::SegmentPlan>> segments = {};  ///< with them: those that the store still needs
  bool fetched = false;                                         ///< this rank's piece came from other nodes
};

/// Everything needed to read one rank's piece.
struct PieceSource {
  segment::VersionId id;
  segment::Piece piece;                  ///< regions, lengths and hashes (the same wherever it comes from)
  std::vector<tier::SlotAddress> slots;  ///< per chunk; empty: not on this node
  std::vector<bool> bad;                 ///< per chunk: do not use the slot
  std::optional<StoredSegment> stored;
  std::unique_ptr<segment::ByteSource> bytes;  ///< the stored segment, opened when first needed
  segment::Piece stored_piece;                 ///< with offsets in that segment
  bool used_tier = false, used_store = false;
  std::uint64_t slot_bytes = 0, store_bytes = 0;  ///< read from there, each chunk as a whole
};

}  // namespace perdure::session
