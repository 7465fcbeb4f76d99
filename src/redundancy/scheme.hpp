#pragma once
// What a redundancy scheme is: plain data, and pure decisions. Doing it is the engine's.
//
// A group has n positions, one node each; m is the number of parities per stripe. What a node keeps for others is lost
// with it.
#include "base/result.hpp"
#include "redundancy/block_map.hpp"
#include "redundancy/groups.hpp"
#include "redundancy/restoration.hpp"

namespace perdure::redundancy {

enum class When { never, while_captured, after_capture };

struct Scheme {
  const char* name;
  const char* summary;
  When when;
  bool at_server;                       ///< what is kept is at a server, whose position is n, which encodes it, too
  bool rereads;                         ///< sends what it reads back from the local tier, not what is still at hand
  unsigned min_size, max_size;          ///< members of a group; where parities can be chosen at least m + 1, too
  unsigned min_parities, max_parities;  ///< m; to be chosen where they differ
  /// How many positions of a group may be lost, whichever they are, without loss of data.
  unsigned (*losses)(unsigned n, unsigned m);
  /// Bytes that a member keeps for others per byte of its own, when all have as much.
  double (*kept_per_byte)(unsigned n, unsigned m);
  /// True when the loss of these positions loses no data, whatever blocks they have.
  bool (*survives)(unsigned n, unsigned m, const Positions& lost);
  /// The source of a block that exists. Its cost is bounded by n.
  Restoration (*restore)(const GroupState& state, Block block);
  /// What is kept by whom, and what it is made of. nothing_kept() for a group that the scheme cannot have.
  std::shared_ptr<const BlockMap> (*map)(unsigned n, unsigned m);
};

/// Nodes keep something for each other, or a server does for them.
inline bool keeps_redundancy(const Scheme& scheme) { return scheme.when != When::never; }

/// Of a group with so many members: they, and the server.
inline std::size_t positions(const Scheme& scheme, std::size_t members) { return members + (scheme.at_server ? 1 : 0); }

/// The m of this scheme when `configured` is what the user chose: that, or the only one it has.
unsigned parities(const Scheme& scheme, unsigned configured);

/// For plan_groups(). Error: PERDURE_INVALID_ARGUMENT when it cannot have m parities.
base::Result<GroupLimits> group_limits(const Scheme& scheme, unsigned m);

}  // namespace perdure::redundancy
