#pragma once
// Defines a redundancy scheme: plain data, and pure decisions. The engine carries them out.
//
// A group has n positions, one node each; m is the number of parities per stripe. If a node is lost, so are the blocks
// that it keeps for others.
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
  bool at_server;                       ///< a server at position n keeps the redundancy blocks, and encodes them
  bool rereads;                         ///< sends data read back from the local tier, not data still at hand
  unsigned min_size, max_size;          ///< members of a group; at least m + 1 if parities can be chosen
  unsigned min_parities, max_parities;  ///< m; to be chosen if they differ
  /// Returns how many positions of a group may be lost, whichever they are, without loss of data.
  unsigned (*losses)(unsigned n, unsigned m);
  /// Returns the bytes that a member keeps for others per byte of its own, if all have as much.
  double (*kept_per_byte)(unsigned n, unsigned m);
  /// Returns true if the loss of these positions loses no data, whatever blocks they have.
  bool (*survives)(unsigned n, unsigned m, const Positions& lost);
  /// Returns the source of an existing block. Its cost is bounded by n.
  Restoration (*restore)(const GroupState& state, Block block);
  /// Returns the group's map of redundancy blocks; nothing_kept() for a group size that the scheme does not support.
  std::shared_ptr<const BlockMap> (*map)(unsigned n, unsigned m);
};

/// Whether nodes keep redundancy for each other, or a server does for them.
inline bool keeps_redundancy(const Scheme& scheme) { return scheme.when != When::never; }

/// Counts the positions of a group with so many members: they, and the server.
inline std::size_t positions(const Scheme& scheme, std::size_t members) { return members + (scheme.at_server ? 1 : 0); }

/// Returns the m of this scheme if the user chose `configured`: that, or the only one it has.
unsigned parities(const Scheme& scheme, unsigned configured);

/// Returns the limits for plan_groups(). PERDURE_INVALID_ARGUMENT if it cannot have m parities.
base::Result<GroupLimits> group_limits(const Scheme& scheme, unsigned m);

}  // namespace perdure::redundancy
