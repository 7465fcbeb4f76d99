#pragma once
// Lays out the segments that a version still needs at the store after its pieces moved to other nodes. Pure.
// (docs/adr/0014)
#include <optional>
#include <vector>

#include "plan/layout.hpp"

namespace perdure::plan {

/// `known` has the segments that are in the store, or that an engine has committed and can still write; duplicates are
/// allowed. The result has the version's other segments: together they are a whole layout. `nodes_now[r]` is the node
/// of rank r, and each segment is written by a node on which ranks of it run. A lost node's segment stays one segment
/// even if its ranks run on different nodes now: its writer then needs all their pieces. Without known segments the
/// result is the layout of this launch.
/// Returns nothing if the version cannot be completed at the store. That is so if the known segments contradict each
/// other. It is also so if more than one is missing, and the store, which is `store_unread`, may have others under the
/// same names. A single missing one can only equal the store's.
std::optional<std::vector<SegmentPlan>> lay_out_missing(const std::vector<SegmentPart>& known,
                                                        const std::vector<std::uint32_t>& nodes_now,
                                                        Aggregation aggregation, bool store_unread = false);

}  // namespace perdure::plan
