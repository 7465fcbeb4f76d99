#include "redundancy/block_order.hpp"

#include <algorithm>

namespace perdure::redundancy {

BlockOrder::BlockOrder(std::span<const std::uint64_t> chunks_per_rank) {
  std::vector<std::uint64_t> ends(chunks_per_rank.begin(), chunks_per_rank.end());
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::uint64_t first_chunk = 0;
  for (const std::uint64_t end : ends) {
    if (end == 0) continue;
    Layer layer{first_chunk, count_, {}};
    for (std::uint32_t rank = 0; rank < chunks_per_rank.size(); ++rank)
      if (chunks_per_rank[rank] >= end) layer.ranks.push_back(rank);
    count_ += (end - first_chunk) * layer.ranks.size();
    layers_.push_back(std::move(layer));
    first_chunk = end;
  }
}

std::uint64_t BlockOrder::block(RankChunk which) const {
  const auto layer = std::prev(std::upper_bound(layers_.begin(), layers_.end(), which.chunk,
                                                [](auto chunk, const Layer& l) { return chunk < l.first_chunk; }));
  const auto rank = std::lower_bound(layer->ranks.begin(), layer->ranks.end(), which.rank) - layer->ranks.begin();
  return layer->first_block + (which.chunk - layer->first_chunk) * layer->ranks.size() +
         static_cast<std::uint64_t>(rank);
}

RankChunk BlockOrder::chunk(std::uint64_t block) const {
  const auto layer = std::prev(std::upper_bound(layers_.begin(), layers_.end(), block,
                                                [](auto number, const Layer& l) { return number < l.first_block; }));
  const std::uint64_t within = block - layer->first_block;
  return {layer->ranks[within % layer->ranks.size()], layer->first_chunk + within / layer->ranks.size()};
}

}  // namespace perdure::redundancy
