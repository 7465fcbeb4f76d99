#pragma once
// Which segments a version still needs at the store, after pieces of it were brought to other nodes. Pure.
// (docs/adr/0014)
#include <optional>
#include <vector>

#include "plan/layout.hpp"

namespace perdure::plan {

/// `known`: segments that are in the store, or that an engine has committed and can still write; duplicates are
/// allowed. The result has the version's other segments, so that together they are a whole layout; each is to be
/// written by a node on which ranks of it run (`nodes_now[r]`: where rank r runs). A lost node's segment stays one
/// segment even where its ranks run on different nodes now: the writer then needs the pieces of all of them. Without
/// known segments the result is the layout of this launch. Nothing: the version cannot be completed at the store,
/// because the known ones contradict each other, or because more than one is missing and the store, which
/// `store_unread`, may have others under the same names. A single one can only be what the store has already.
std::optional<std::vector<SegmentPlan>> lay_out_missing(const std::vector<SegmentPart>& known,
                                                        const std::vector<std::uint32_t>& nodes_now,
                                                        Aggregation aggregation, bool store_unread = false);

}  // namespace perdure::plan
