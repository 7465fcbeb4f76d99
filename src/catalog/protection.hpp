#pragma once
// What a node keeps so that others can be lost: its part of one group's redundancy for one version. Data only.
// (docs/adr/0014)
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "segment/manifest.hpp"

namespace perdure::catalog {

/// A version that is encoded again, in the groups of another launch, gets another epoch.
struct ProtectionId {
  segment::VersionId version;
  std::uint64_t epoch = 0;
  friend auto operator<=>(const ProtectionId&, const ProtectionId&) = default;
  std::string text() const;  ///< "nbody version 7 (epoch 1a2b)"
};

/// Which block of redundancy: parity `index` of a stripe; or, where copies are kept, block `stripe` of position
/// `index`.
struct BlockName {
  std::uint64_t stripe = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const BlockName&, const BlockName&) = default;
};

/// The scheme whose groups have one position more than members, the last: that of the server.
inline constexpr const char* kParityServer = "parity-server";

struct Protection {
  ProtectionId id;
  std::uint32_t ranks = 0;  ///< of the whole version
  std::uint32_t group = 0;  ///< among those of the epoch
  std::string scheme;       ///< as in redundancy.scheme
  std::uint32_t parities = 0;
  std::uint32_t position = 0;  ///< this node's
  /// The pieces of every position of the group, ascending by rank. Where their chunks are is not said: only how long
  /// they are, and their hashes.
  std::vector<std::vector<segment::Piece>> members;
  /// Here, in slots (ChunkEntry: place = tier, offset = slot).
  std::map<BlockName, segment::ChunkEntry> kept;
  bool reached = false;  ///< every position said that it keeps its part: level `node`, as far as this group goes
};

// ---- records -----------------------------------------------------------------------------------------------------
/// All that this node has to keep is in its slots. Replaces what was said of it before.
struct ProtectRecord {
  Protection protection;
};
struct ReachedRecord {
  ProtectionId id;
};
/// A kept block failed verification, or is gone: it is never used again.
struct BadBlockRecord {
  ProtectionId id;
  BlockName block;
  std::string why;
};
/// The node gives up the slots of what it keeps.
struct UnprotectRecord {
  ProtectionId id;
};

}  // namespace perdure::catalog
