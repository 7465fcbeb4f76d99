#include "plan/settlement.hpp"

#include <algorithm>

#include "plan/missing_segments.hpp"

namespace perdure::plan {
namespace {

std::vector<bool> ranks_in_store(const Evidence& evidence) {
  std::vector<bool> ranks(evidence.holders.ranks());
  for (const SegmentPart& part : evidence.stored)
    for (const std::uint32_t rank : part.ranks)
      if (rank < ranks.size()) ranks[rank] = true;
  return ranks;
}

bool is_same(const SegmentPart& part, const SegmentPlan& plan) {
  return plan.index == part.index && plan.count == part.count && plan.ranks == part.ranks;
}

bool is_planned(const SegmentPart& part, const std::vector<SegmentPlan>& plans) {
  return std::any_of(plans.begin(), plans.end(), [&part](const auto& plan) { return is_same(part, plan); });
}

bool is_among(const SegmentPlan& plan, const std::vector<SegmentPart>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&plan](const auto& part) { return is_same(part, plan); });
}

using Nodes = std::vector<std::uint32_t>;

// Finds a node that has all its pieces, which writes it; false if there is none.
bool find_writer(SegmentPlan& plan, const PieceHolders& holders) {
  const auto first = holders.of(plan.ranks.front());
  const auto writer = std::find_if(first.begin(), first.end(), [&](std::uint32_t node) {
    return std::all_of(plan.ranks.begin(), plan.ranks.end(),
                       [&](std::uint32_t rank) { return holders.on(rank, node); });
  });
  if (writer != first.end()) plan.node = *writer;
  return writer != first.end();
}

std::optional<std::vector<SegmentPlan>> fitting_layout(const Evidence& evidence, const Nodes& nodes,
                                                       Aggregation aggregation) {
  const auto fit = [](const std::vector<SegmentPart>& parts, const std::vector<SegmentPlan>& plans) {
    return std::all_of(parts.begin(), parts.end(), [&](const SegmentPart& part) { return is_planned(part, plans); });
  };
  auto plans = lay_out_segments(nodes, aggregation);
  if (!fit(evidence.begun, plans)) return std::nullopt;
  if (fit(evidence.stored, plans) && fit(evidence.committed, plans)) return plans;
  if (!evidence.begun.empty()) return std::nullopt;
  auto known = evidence.stored;
  known.insert(known.end(), evidence.committed.begin(), evidence.committed.end());
  auto missing = lay_out_missing(known, nodes, aggregation, evidence.store_unread);
  if (!missing) return std::nullopt;
  const bool writable =
      std::all_of(missing->begin(), missing->end(), [&](auto& plan) { return find_writer(plan, evidence.holders); });
  return writable ? missing : std::nullopt;
}

}  // namespace

Settlement settle(const Evidence& evidence, const std::vector<std::uint32_t>& nodes_now, Aggregation aggregation) {
  Nodes nodes;
  const auto stored = ranks_in_store(evidence);
  bool waits = false;  // for a piece that may be where this launch cannot look
  for (std::uint32_t rank = 0; rank < evidence.holders.ranks(); ++rank) {
    if (const Nodes holders = evidence.holders.of(rank); !holders.empty()) {
      nodes.push_back(holders.back());
      continue;
    }
    if (!stored[rank]) {
      if (!evidence.unreachable.contains(rank) && !evidence.store_unread && !evidence.node_away)
        return {Verdict::abort, {}};
      waits = true;
    }
    nodes.push_back(rank < nodes_now.size() ? nodes_now[rank] : 0);
  }
  if (waits) return {evidence.superseded ? Verdict::abort : Verdict::waits, {}};
  auto segments = fitting_layout(evidence, nodes, aggregation);
  if (!segments) return {evidence.superseded ? Verdict::abort : Verdict::undecided, {}};
  // Segments in the store need no writer and no pieces. Segments that were begun continue as they are.
  std::erase_if(*segments, [&](const SegmentPlan& plan) {
    return is_among(plan, evidence.stored) && !is_among(plan, evidence.begun);
  });
  return {Verdict::commit, std::move(*segments)};
}

}  // namespace perdure::plan
