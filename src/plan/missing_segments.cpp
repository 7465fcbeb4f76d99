#include "plan/missing_segments.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace perdure::plan {
namespace {

using Ranks = std::vector<std::uint32_t>;

/// The free indices and ranks of a layout.
struct Gaps {
  std::uint32_t count = 0;
  std::vector<bool> indices, ranks;
  std::size_t free_indices = 0, free_ranks = 0;
};

bool take(std::vector<bool>& free, std::size_t& left, std::uint32_t which) {
  if (which >= free.size() || !free[which]) return false;
  free[which] = false;
  --left;
  return true;
}

std::optional<Gaps> gaps_of(const std::vector<SegmentPart>& known, std::size_t ranks) {
  const std::uint32_t count = known.front().count;
  if (count > ranks) return std::nullopt;
  Gaps gaps{count, std::vector<bool>(count, true), std::vector<bool>(ranks, true), count, ranks};
  std::map<std::uint32_t, const Ranks*> taken;
  for (const SegmentPart& part : known) {
    if (part.count != gaps.count) return std::nullopt;
    const auto [known_one, added] = taken.emplace(part.index, &part.ranks);
    if (!added && *known_one->second != part.ranks) return std::nullopt;
    if (!added) continue;
    if (!take(gaps.indices, gaps.free_indices, part.index)) return std::nullopt;
    for (const std::uint32_t rank : part.ranks)
      if (!take(gaps.ranks, gaps.free_ranks, rank)) return std::nullopt;
  }
  const bool fits = (gaps.free_indices == 0) == (gaps.free_ranks == 0) && gaps.free_indices <= gaps.free_ranks;
  return fits ? std::optional(std::move(gaps)) : std::nullopt;
}

struct BySize {
  bool operator()(const SegmentPlan& a, const SegmentPlan& b) const {
    return a.ranks.size() != b.ranks.size() ? a.ranks.size() > b.ranks.size() : a.ranks < b.ranks;
  }
};
/// Sorts the largest first. Thousands may have to be joined if a job was started again on fewer nodes.
using Plans = std::set<SegmentPlan, BySize>;

// Joins the two smallest, on the node with the larger one: so the fewest pieces have to move to another node.
void join_smallest(Plans& plans) {
  const SegmentPlan last = std::move(plans.extract(std::prev(plans.end())).value());
  SegmentPlan joined = std::move(plans.extract(std::prev(plans.end())).value());
  joined.ranks.insert(joined.ranks.end(), last.ranks.begin(), last.ranks.end());
  std::sort(joined.ranks.begin(), joined.ranks.end());
  plans.insert(std::move(joined));
}

void divide_largest(Plans& plans) {
  SegmentPlan first = std::move(plans.extract(plans.begin()).value()), half = first;
  const auto middle = static_cast<std::ptrdiff_t>(half.ranks.size() / 2);
  first.ranks.resize(static_cast<std::size_t>(middle));
  half.ranks.erase(half.ranks.begin(), half.ranks.begin() + middle);
  plans.insert(std::move(first));
  plans.insert(std::move(half));
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
  if (!gaps || (store_unread && gaps->free_indices > 1)) return std::nullopt;
  std::map<std::uint32_t, Ranks> by_node;
  for (std::uint32_t rank = 0; rank < gaps->ranks.size(); ++rank)
    if (gaps->ranks[rank]) by_node[nodes_now[rank]].push_back(rank);
  Plans by_size;
  for (auto& [node, ranks] : by_node) by_size.insert({0, gaps->count, node, std::move(ranks)});
  while (by_size.size() > gaps->free_indices) join_smallest(by_size);
  while (by_size.size() < gaps->free_indices) divide_largest(by_size);
  std::vector<SegmentPlan> plans(by_size.begin(), by_size.end());
  std::sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) { return a.ranks < b.ranks; });
  std::uint32_t index = 0;
  for (SegmentPlan& plan : plans) {
    while (!gaps->indices[index]) ++index;
    plan.index = index++;
  }
  return plans;
}

}  // namespace perdure::plan
