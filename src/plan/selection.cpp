#include "plan/selection.hpp"

#include <algorithm>
#include <iterator>

namespace perdure::plan {

// The largest number has no successor; there the nonces decide.
std::uint64_t attempt_time(std::uint64_t clock_ns, std::uint64_t newest_known_ns) {
  return clock_ns > newest_known_ns ? clock_ns : newest_known_ns + (newest_known_ns + 1 == 0 ? 0 : 1);
}

std::optional<Candidate> newest_common(const std::vector<std::vector<Candidate>>& per_rank) {
  if (per_rank.empty()) return std::nullopt;
  std::vector<Candidate> common = per_rank.front();
  std::sort(common.begin(), common.end());
  for (std::size_t rank = 1; rank < per_rank.size() && !common.empty(); ++rank) {
    std::vector<Candidate> mine = per_rank[rank], both;
    std::sort(mine.begin(), mine.end());
    std::set_intersection(common.begin(), common.end(), mine.begin(), mine.end(), std::back_inserter(both));
    common = std::move(both);
  }
  if (common.empty()) return std::nullopt;
  return common.back();
}

}  // namespace perdure::plan
