#pragma once
// Copies between distant places of a mesh: to the other side of a periodic block, or to another block.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mesh/data.hpp"
#include "mesh/ranks.hpp"

namespace perdure::mesh {

/// Sets to[index] = from[index + offset] for all indices of `to_range`. The data sets may be the same, or on different
/// blocks.
struct Transfer {
  Dataset* to;
  Box to_range;
  const Dataset* from;
  Index offset{};
  Box from_range() const;
};

/// Returns why these transfers cannot run at once, or an empty text. Pure, and the same on all ranks.
std::string defect_of(std::span<const Transfer> transfers);

/// Runs transfers between ranks. Each rank derives from the divisions which rank has which elements. It sends one
/// message, for all transfers together, to each rank that needs some.
class TransferExchange {
 public:
  explicit TransferExchange(Ranks& ranks) : ranks_(ranks) {}
  /// Reads everything before it writes anything. [collective]
  void run(std::span<const Transfer> transfers);
  std::uint64_t messages_sent() const { return messages_sent_; }

 private:
  std::size_t packed_to(std::span<const Transfer> transfers, int peer, std::vector<std::byte>& out) const;
  std::size_t bytes_from(std::span<const Transfer> transfers, int peer) const;

  Ranks& ranks_;
  std::vector<std::vector<std::byte>> out_, in_;  // one buffer per peer
  std::vector<Ranks::Message> sends_, receives_;
  std::uint64_t messages_sent_ = 0;
};

}  // namespace perdure::mesh
