#pragma once
// Copies from one place of a mesh to another, far from it: the other side of a periodic block, or another block.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mesh/data.hpp"
#include "mesh/ranks.hpp"

namespace perdure::mesh {

/// to[index] = from[index + offset] for all indices of `to_range`. The data sets may be the same, or on other blocks.
struct Transfer {
  Dataset* to;
  Box to_range;
  const Dataset* from;
  Index offset{};
  Box from_range() const;
};

/// Why these cannot be done at once; empty when they can. Pure, and the same on all ranks.
std::string defect_of(std::span<const Transfer> transfers);

/// Each rank tells from the divisions who has what, and sends one message to each that wants something, of all
/// transfers together.
class TransferExchange {
 public:
  explicit TransferExchange(Ranks& ranks) : ranks_(ranks) {}
  /// Reads all before it writes anything. [collective]
  void run(std::span<const Transfer> transfers);
  std::uint64_t messages_sent() const { return messages_sent_; }

 private:
  std::size_t packed_to(std::span<const Transfer> transfers, int peer, std::vector<std::byte>& out) const;
  std::size_t bytes_from(std::span<const Transfer> transfers, int peer) const;

  Ranks& ranks_;
  std::vector<std::vector<std::byte>> out_, in_;  // of each peer
  std::vector<Ranks::Message> sends_, receives_;
  std::uint64_t messages_sent_ = 0;
};

}  // namespace perdure::mesh
