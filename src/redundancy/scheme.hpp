#pragma once
// What a redundancy scheme is: plain data, and pure decisions. Doing it is the engine's.
//
// A group has n positions, one node each; m is the number of parities per stripe. What a node keeps for others is lost
// with it.
#include "base/result.hpp"
#include "redundancy/groups.hpp"
#include "redundancy/restoration.hpp"

namespace perdure::redundancy {

enum class Method {
  none,    ///< nothing is kept for others
  copy,    ///< position p's blocks are copied to (p + 1) mod n
  parity,  ///< Stripes(n, m)
  server,  ///< Stripes::at_server(n)
};

enum class When { never, while_captured, after_capture };

struct Scheme {
  const char* name;
  const char* summary;
  Method method;
  When when;
  bool rereads;                         ///< sends what it reads back from the local tier, not what is still at hand
  unsigned min_size, max_size;          ///< members of a group; where parities can be chosen at least m + 1, too
  unsigned min_parities, max_parities;  ///< m; to be chosen where they differ
  /// Any so many losses in a group lose no data.
  unsigned (*losses)(unsigned n, unsigned m);
  /// Bytes that a member keeps for others per byte of its own, when all have as much.
  double (*kept_per_byte)(unsigned n, unsigned m);
  /// No data is gone when these positions are, whatever anybody has.
  bool (*survives)(unsigned n, unsigned m, const Positions& lost);
  /// How a block that exists can be had. Bounded by n.
  Restoration (*restore)(const GroupState& state, Block block);
};

/// The m of this scheme when `configured` is what the user chose: that, or the only one it has.
unsigned parities(const Scheme& scheme, unsigned configured);

/// For plan_groups(). Error: PERDURE_INVALID_ARGUMENT when it cannot have m parities.
base::Result<GroupLimits> group_limits(const Scheme& scheme, unsigned m);

}  // namespace perdure::redundancy
