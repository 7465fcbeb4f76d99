#pragma once
// Decides about a version that engines staged without learning its outcome. Pure. (docs/adr/0002)
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "plan/layout.hpp"
#include "plan/recovery.hpp"

namespace perdure::plan {

/// All that is known about one attempt at one version.
struct Evidence {
  PieceHolders holders;
  std::vector<SegmentPart> stored;
  std::vector<SegmentPart> begun;           ///< not published yet, but some of their chunks are nowhere else
  std::vector<SegmentPart> committed = {};  ///< that engines know the outcome of, and will write
  bool store_unread = false;                ///< the store could not be asked: it may hold more than `stored`
  bool superseded = false;  ///< a later attempt at a version of the same name is whole, in tiers or in the store
  std::set<std::uint32_t> unreachable = {};  ///< ranks whose piece is on a tier that cannot be reached in this launch
  bool node_away = false;  ///< a node that it was captured on is not part of this launch, or nobody knows which were
};

enum class Verdict {
  commit,     ///< every rank's piece is somewhere: the checkpoint had succeeded, and may have been reported so
  abort,      ///< it can never be whole
  undecided,  ///< keep the pieces: they cannot be stored as they are, but be restored, if none has chunks in a
              ///< temporary segment
  waits,  ///< its rest may be where this launch cannot look: a node, a tier, the store. What is here stays as long as
          ///< it is in nobody's way
};

struct Settlement {
  Verdict verdict = Verdict::undecided;
  std::vector<SegmentPlan> segments;  ///< with `commit`: of all nodes, those that are not stored yet
};

/// `nodes_now[r]` is the node that rank r runs on now: it stands in for the node of a piece that only the store has.
/// Segments that are stored, or that others write, stay as they are, and the layout is made to fit. Where that is
/// impossible, or would change begun segments, the version cannot be completed at the store.
Settlement settle(const Evidence& evidence, const std::vector<std::uint32_t>& nodes_now, Aggregation aggregation);

}  // namespace perdure::plan
