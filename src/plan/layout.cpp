#include "plan/layout.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace perdure::plan {
namespace {

std::uint32_t segments_on_node(std::size_t ranks_here, std::size_t nodes, Aggregation aggregation) {
  const auto ranks = static_cast<std::uint32_t>(ranks_here);
  if (aggregation.per == Aggregation::Per::rank) return ranks;
  if (aggregation.per == Aggregation::Per::node) return 1;
  const auto share = static_cast<std::uint32_t>((aggregation.number + nodes - 1) / nodes);
  return std::clamp<std::uint32_t>(share, 1, ranks);
}

}  // namespace

base::Result<Aggregation> parse_aggregation(const std::string& text) {
  if (text == "node") return Aggregation{Aggregation::Per::node, 0};
  if (text == "rank") return Aggregation{Aggregation::Per::rank, 0};
  std::uint32_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, "segment.per", "'" + text + "' is not node, rank or a positive number");
  return Aggregation{Aggregation::Per::number, number};
}

std::vector<SegmentPlan> lay_out_segments(const std::vector<std::uint32_t>& node_of_rank, Aggregation aggregation) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> ranks_of_node;
  for (std::uint32_t rank = 0; rank < node_of_rank.size(); ++rank) ranks_of_node[node_of_rank[rank]].push_back(rank);
  std::vector<SegmentPlan> plans;
  for (const auto& entry : ranks_of_node) {
    const std::uint32_t node = entry.first;
    const std::vector<std::uint32_t>& ranks = entry.second;  // clang 14 could not capture a structured binding
    const std::uint32_t here = segments_on_node(ranks.size(), ranks_of_node.size(), aggregation);
    for (std::uint32_t s = 0; s < here; ++s) {
      const auto at = [&](std::size_t part) {
        return ranks.begin() + static_cast<std::ptrdiff_t>(ranks.size() * part / here);
      };
      plans.push_back({static_cast<std::uint32_t>(plans.size()), 0, node, {at(s), at(s + 1)}});
    }
  }
  for (auto& plan : plans) plan.count = static_cast<std::uint32_t>(plans.size());
  return plans;
}

}  // namespace perdure::plan
