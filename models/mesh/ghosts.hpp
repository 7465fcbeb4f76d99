#pragma once
// Decides which ghosts a loop reads, and exchanges them between neighbours.
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mesh/arguments.hpp"
#include "mesh/ranks.hpp"

namespace perdure::mesh {

/// Returns the neighbours whose elements a loop over `range` reads on some rank, or `nullopt` if it reads more than the
/// ghosts hold. The answer depends only on division, range and stencil, so all ranks agree. Pure.
std::optional<Neighbours> need_of(const Use& use, const Box& range);

/// Fills ghosts with the values of their owners.
class GhostExchange {
 public:
  explicit GhostExchange(Ranks& ranks) : ranks_(ranks) {}
  /// Brings the stale ghosts that a loop over `range` reads. Each neighbour that has some sends one message for all
  /// data sets, and all messages travel at once. All uses must be of one block. Returns null, or brings nothing and
  /// returns a data set of which the loop reads more than ghosts hold. [collective]
  const Dataset* bring(const Box& range, std::span<const Use> uses);
  /// Counts the exchanges in which any rank received something.
  std::uint64_t exchanges() const { return exchanges_; }
  std::uint64_t messages_sent() const { return messages_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  struct Wanted {
    Dataset* set;
    Neighbours from;
  };
  void want(Dataset& set, Neighbours from);
  void exchange();
  void send(int peer, std::size_t direction);
  void receive(int peer, std::size_t direction);
  void unpack_from(std::size_t direction);

  Ranks& ranks_;
  std::vector<Wanted> wanted_;
  std::array<std::vector<std::byte>, Neighbours::kDirections> out_, in_;  // one buffer per neighbour
  std::vector<Ranks::Message> sends_, receives_;
  std::uint64_t exchanges_ = 0, messages_sent_ = 0, bytes_sent_ = 0;
};

}  // namespace perdure::mesh
