#pragma once
// Describes one node's part of its group's redundancy for one version. Data only. (docs/adr/0014)
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "segment/manifest.hpp"

namespace perdure::catalog {

/// A version that is encoded again, in the groups of another launch, gets another epoch.
struct RedundancyId {
  segment::VersionId version;
  std::uint64_t epoch = 0;
  friend auto operator<=>(const RedundancyId&, const RedundancyId&) = default;
  std::string text() const;  ///< "nbody version 7 (epoch 1a2b)"
  PERDURE_FIELDS(version, epoch)
};

/// Names a block of redundancy: parity `index` of a stripe, or the copy of block `stripe` of position `index`.
struct BlockName {
  std::uint64_t stripe = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const BlockName&, const BlockName&) = default;
  PERDURE_FIELDS(stripe, index)
  std::string wrong() const;  ///< the defect: its index is no position of a group
};

struct RedundancySet {
  RedundancyId id;
  std::uint32_t ranks = 0;  ///< of the whole version
  std::uint32_t group = 0;  ///< among those of the epoch
  std::string scheme;       ///< as in redundancy.scheme
  std::uint32_t parities = 0;
  std::uint32_t position = 0;  ///< this node's
  /// The pieces of every position of the group, ascending by rank. They have lengths and hashes of chunks, but not
  /// their places.
  std::vector<std::vector<segment::Piece>> members;
  /// In slots of this node (ChunkEntry: place = tier, offset = slot).
  std::map<BlockName, segment::ChunkEntry> kept;
  bool reached = false;  ///< every position has recorded its part: level `node` for this group
  PERDURE_FIELDS(id, ranks, group, scheme, parities, position, members, kept, reached)
  std::string wrong() const;  ///< the defect: the group is invalid, or a rank is beyond the last or in it twice
  friend bool operator==(const RedundancySet&, const RedundancySet&) = default;
};

// ---- records -----------------------------------------------------------------------------------------------------
/// All redundancy blocks of this node are in its slots. Replaces an earlier record of the same set.
struct RedundancyRecord {
  RedundancySet redundancy_set;
};
struct ReachedRecord {
  RedundancyId id;
};
/// A kept block failed verification, or is gone: it is never used again.
struct BadBlockRecord {
  RedundancyId id;
  BlockName block;
  std::string why;
};
/// An attempt has reached level `node` on all nodes: redundancy of older ones of the name may go, except for these.
/// Replaces an earlier record of the name.
struct SupersededRecord {
  static constexpr std::size_t kMostKept = 64;
  std::string name;
  std::uint64_t attempt_ns = 0;  ///< 0: nothing is superseded
  std::set<std::uint64_t> keep;
  friend bool operator==(const SupersededRecord&, const SupersededRecord&) = default;
};
/// The node releases the slots of these redundancy blocks.
struct DropRedundancyRecord {
  RedundancyId id;
};

}  // namespace perdure::catalog
