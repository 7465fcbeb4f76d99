#include "plan/missing_segments.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace perdure::plan {
namespace {

using Ranks = std::vector<std::uint32_t>;

/// What is free of a layout.
struct Gaps {
  std::uint32_t count = 0;
  std::set<std::uint32_t> indices, ranks;
};

std::optional<Gaps> gaps_of(const std::vector<SegmentPart>& known, std::size_t ranks) {
  Gaps gaps{known.front().count, {}, {}};
  for (std::uint32_t index = 0; index < gaps.count && gaps.count <= ranks; ++index) gaps.indices.insert(index);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) gaps.ranks.insert(rank);
  std::map<std::uint32_t, const Ranks*> taken;
  for (const SegmentPart& part : known) {
    if (part.count != gaps.count) return std::nullopt;
    const auto [known_one, added] = taken.emplace(part.index, &part.ranks);
    if (!added && *known_one->second != part.ranks) return std::nullopt;
    if (!added) continue;
    if (gaps.indices.erase(part.index) == 0) return std::nullopt;
    for (const std::uint32_t rank : part.ranks)
      if (gaps.ranks.erase(rank) == 0) return std::nullopt;
  }
  const bool fits = gaps.indices.empty() == gaps.ranks.empty() && gaps.indices.size() <= gaps.ranks.size();
  return fits ? std::optional(gaps) : std::nullopt;
}

bool larger(const SegmentPlan& a, const SegmentPlan& b) {
  return a.ranks.size() != b.ranks.size() ? a.ranks.size() > b.ranks.size() : a.ranks < b.ranks;
}

// The two smallest become one, of the node that has more of it: as few pieces as can be have to go to another node.
void join_smallest(std::vector<SegmentPlan>& plans) {
  std::sort(plans.begin(), plans.end(), larger);
  const Ranks last = std::move(plans.back().ranks);
  plans.pop_back();
  plans.back().ranks.insert(plans.back().ranks.end(), last.begin(), last.end());
  std::sort(plans.back().ranks.begin(), plans.back().ranks.end());
}

void divide_largest(std::vector<SegmentPlan>& plans) {
  std::sort(plans.begin(), plans.end(), larger);
  SegmentPlan half = plans.front();
  const auto middle = static_cast<std::ptrdiff_t>(half.ranks.size() / 2);
  plans.front().ranks.resize(static_cast<std::size_t>(middle));
  half.ranks.erase(half.ranks.begin(), half.ranks.begin() + middle);
  plans.push_back(std::move(half));
}

}  // namespace

std::optional<std::vector<SegmentPlan>> lay_out_missing(const std::vector<SegmentPart>& known,
                                                        const std::vector<std::uint32_t>& nodes_now,
                                                        Aggregation aggregation, bool store_unread) {
  if (known.empty()) {
    auto all = lay_out_segments(nodes_now, aggregation);
    return store_unread && all.size() > 1 ? std::nullopt : std::optional(std::move(all));
  }
  const auto gaps = gaps_of(known, nodes_now.size());
  if (!gaps || (store_unread && gaps->indices.size() > 1)) return std::nullopt;
  std::map<std::uint32_t, Ranks> by_node;
  for (const std::uint32_t rank : gaps->ranks) by_node[nodes_now[rank]].push_back(rank);
  std::vector<SegmentPlan> plans;
  for (auto& [node, ranks] : by_node) plans.push_back({0, gaps->count, node, std::move(ranks)});
  while (plans.size() > gaps->indices.size()) join_smallest(plans);
  while (plans.size() < gaps->indices.size()) divide_largest(plans);
  std::sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) { return a.ranks < b.ranks; });
  auto index = gaps->indices.begin();
  for (SegmentPlan& plan : plans) plan.index = *index++;
  return plans;
}

}  // namespace perdure::plan
