#include "placement/flush_pool.hpp"

#include <algorithm>

namespace perdure::placement {

FlushPool::Answer FlushPool::decide(const FlushPoolView& view) {
  const unsigned limit = std::max(view.limit, 1U);
  search_.set_limit(limit);
  if (view.chunks == 0) return {0};
  const auto demand = static_cast<unsigned>(std::min<std::uint64_t>(view.chunks, limit));
  const unsigned wanted = search_.threads(limit);
  if (view.somebody_waits) {
    budget_.hurried();
    return {std::min(wanted, demand)};
  }
  Answer answer = budget_.threads(view.now_s, view.pressure, wanted, view.running);
  answer.threads = std::min(answer.threads, demand);
  return answer;
}

}  // namespace perdure::placement
