#include "plan/selection.hpp"

#include <algorithm>
#include <iterator>

namespace perdure::plan {

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
