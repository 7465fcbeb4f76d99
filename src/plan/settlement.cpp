#include "plan/settlement.hpp"

#include <algorithm>

namespace perdure::plan {
namespace {

bool in_store(const Evidence& evidence, std::uint32_t rank) {
  return std::any_of(evidence.stored.begin(), evidence.stored.end(), [rank](const StoredPart& part) {
    return std::find(part.ranks.begin(), part.ranks.end(), rank) != part.ranks.end();
  });
}

bool is_planned(const StoredPart& part, const std::vector<SegmentPlan>& plans) {
  return std::any_of(plans.begin(), plans.end(), [&part](const SegmentPlan& plan) {
    return plan.index == part.index && plan.count == part.count && plan.ranks == part.ranks;
  });
}

}  // namespace

Settlement settle(const Evidence& evidence, const std::vector<std::uint32_t>& nodes_now, Aggregation aggregation) {
  std::vector<std::uint32_t> nodes;
  bool only_stored = false;
  for (std::uint32_t rank = 0; rank < evidence.node_of_rank.size(); ++rank) {
    if (evidence.node_of_rank[rank]) {
      nodes.push_back(*evidence.node_of_rank[rank]);
      continue;
    }
    if (!in_store(evidence, rank)) {
      const bool hope = evidence.store_unread && !evidence.superseded;
      return {hope ? Verdict::undecided : Verdict::abort, {}};
    }
    only_stored = true;
    nodes.push_back(rank < nodes_now.size() ? nodes_now[rank] : 0);
  }
  auto segments = lay_out_segments(nodes, aggregation);
  const auto planned = [&](const StoredPart& part) { return is_planned(part, segments); };
  const bool fits_stored = std::all_of(evidence.stored.begin(), evidence.stored.end(), planned);
  const bool fits_begun = std::all_of(evidence.begun.begin(), evidence.begun.end(), planned);
  if ((only_stored && !fits_stored) || !fits_begun)
    return {evidence.superseded ? Verdict::abort : Verdict::undecided, {}};
  return {Verdict::commit, std::move(segments)};
}

}  // namespace perdure::plan
