#include "placement/backlog.hpp"

#include <algorithm>

#include "placement/flush_order.hpp"

namespace perdure::placement {
namespace {

// A model of writes stands for reads, which are no slower as far as we know.
double read_bytes_per_s(const TierState& tier, std::uint64_t chunks, unsigned at_once) {
  return tier.model->bytes_per_s(static_cast<unsigned>(std::min<std::uint64_t>(chunks, at_once)));
}

}  // namespace

Backlog backlog(const View& view, const TierState& tier, const TierState& top, std::uint64_t chunks) {
  const double flush = to_count_on(view.flush), count = static_cast<double>(chunks);
  const double chunk_bytes = static_cast<double>(view.chunk_bytes);
  Backlog expected{count * chunk_bytes / flush, 0};
  const double beside = read_bytes_per_s(tier, chunks, most_readers(view.flush.threads));
  const double alone = read_bytes_per_s(tier, chunks, view.flush.threads);
  if (beside >= flush || alone >= flush) return expected;
  const double cover = static_cast<double>(top.slots) - static_cast<double>(view.flush.threads);
  const double covered = std::max(cover, 0.0) * beside / (flush - beside);
  expected.later_s = std::max(count - covered, 0.0) * chunk_bytes * (1 / alone - 1 / flush);
  return expected;
}

}  // namespace perdure::placement
