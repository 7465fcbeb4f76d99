#pragma once
// Ghosts: whether a loop needs those of its neighbours, and their exchange.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mesh/arguments.hpp"
#include "mesh/ranks.hpp"

namespace perdure::mesh {

enum class Need {
  nothing,   ///< on no rank does the loop read what another one has
  ghosts,    ///< on some rank
  too_much,  ///< more than ghosts hold
};
/// Of a loop over `range`; the same on all ranks. Pure.
Need need_of(const Use& use, const Box& range);

/// Fills ghosts with what their owners have: one message per neighbour for all data sets together, dimension by
/// dimension, so that corners come along.
class GhostExchange {
 public:
  explicit GhostExchange(Ranks& ranks) : ranks_(ranks) {}
  /// All of one block. [collective]
  void fill(std::span<Dataset* const> sets);
  std::uint64_t exchanges() const { return exchanges_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  void fill(std::span<Dataset* const> sets, unsigned dimension);

  Ranks& ranks_;
  std::vector<std::byte> out_[2], in_[2];
  std::uint64_t exchanges_ = 0, bytes_sent_ = 0;
};

}  // namespace perdure::mesh
