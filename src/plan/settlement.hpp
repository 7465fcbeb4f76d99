#pragma once
// Decides about a version that engines staged without learning its outcome. Pure. (docs/adr/0002)
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "plan/layout.hpp"
#include "plan/recovery.hpp"

namespace perdure::plan {

/// All facts about one attempt at one version.
struct Evidence {
  PieceHolders holders;
  std::vector<SegmentPart> stored;
  std::vector<SegmentPart> begun;           ///< not published yet, but some of their chunks are nowhere else
  std::vector<SegmentPart> committed = {};  ///< engines know their outcome and will write them
  bool store_unread = false;                ///< the store could not be asked: it may hold more than `stored`
  bool superseded = false;  ///< a later attempt at a version of the same name is whole, in tiers or in the store
  std::set<std::uint32_t> unreachable = {};  ///< ranks whose piece is on a tier that this launch cannot reach
  bool node_away = false;  ///< a node that it was captured on is not part of this launch, or nobody knows which were
};

enum class Verdict {
  commit,     ///< every rank's piece exists: the checkpoint had succeeded, and may have been reported so
  abort,      ///< it can never be whole
  undecided,  ///< keeps the pieces: they cannot be stored as they are, but be restored unless a temporary segment has
              ///< chunks of them
  waits,      ///< the rest may be where this launch cannot look: a node, a tier, the store. The pieces here stay unless
              ///< they are in somebody's way
};

struct Settlement {
  Verdict verdict = Verdict::undecided;
  std::vector<SegmentPlan> segments;  ///< with `commit`: of all nodes, those that are not stored yet
};

/// `nodes_now[r]` is the node of rank r now; it stands for the node of a piece that only the store has. Segments that
/// are stored, or that others write, stay as they are, and the layout is made to fit. If that is impossible, or would
/// change begun segments, the version cannot be completed at the store.
Settlement settle(const Evidence& evidence, const std::vector<std::uint32_t>& nodes_now, Aggregation aggregation);

}  // namespace perdure::plan
