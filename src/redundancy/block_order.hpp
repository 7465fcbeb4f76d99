#pragma once
// Numbers the chunks of a node's ranks as its blocks. Chunk 0 of every rank comes first, then chunk 1 of every rank
// that has one, and so on. So chunks written at about the same time are encoded together (ADR 0014).
#include <cstdint>
#include <span>
#include <vector>

namespace perdure::redundancy {

/// A chunk of a rank of this node: the index of the rank among them, and of the chunk within the rank.
struct RankChunk {
  std::uint32_t rank = 0;
  std::uint64_t chunk = 0;
  friend bool operator==(const RankChunk&, const RankChunk&) = default;
};

/// Immutable. A query searches the different chunk counts of the node, mostly one.
class BlockOrder {
 public:
  explicit BlockOrder(std::span<const std::uint64_t> chunks_per_rank);

  std::uint64_t count() const { return count_; }
  std::uint64_t block(RankChunk which) const;  ///< of an existing chunk
  RankChunk chunk(std::uint64_t block) const;  ///< the inverse; block < count()

 private:
  /// Chunk indices from `first_chunk` up to the next layer's, which the same ranks have.
  struct Layer {
    std::uint64_t first_chunk, first_block;
    std::vector<std::uint32_t> ranks;  // ascending
  };
  std::vector<Layer> layers_;
  std::uint64_t count_ = 0;
};

}  // namespace perdure::redundancy
