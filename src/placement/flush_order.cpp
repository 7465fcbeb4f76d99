#include "placement/flush_order.hpp"

#include <algorithm>
#include <limits>

namespace perdure::placement {
namespace {

double time_to_empty(const FlushQueue& tier) {
  const auto chunks = static_cast<double>(tier.pending + tier.readers);
  return tier.read_bytes_per_s > 0 ? chunks / tier.read_bytes_per_s : std::numeric_limits<double>::infinity();
}

}  // namespace

unsigned most_readers(unsigned threads) { return std::max(threads - std::min(threads, std::max(threads / 8, 1U)), 1U); }

unsigned most_under_way(unsigned threads, bool slots_wanted) {
  return threads + (slots_wanted ? std::max(threads / 8, 1U) : threads);
}

std::optional<std::size_t> next_to_flush(std::span<const FlushQueue> tiers, bool slots_wanted, unsigned threads) {
  const unsigned share = most_readers(threads);
  std::optional<std::size_t> best, busy;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].pending == 0) continue;
    if (slots_wanted) return i;
    const bool has_its_share = tiers[i].readers >= share;
    auto& candidate = has_its_share ? busy : best;
    if (!candidate || time_to_empty(tiers[i]) > time_to_empty(tiers[*candidate])) candidate = i;
  }
  return best ? best : busy;
}

}  // namespace perdure::placement
