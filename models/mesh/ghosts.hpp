#pragma once
// Ghosts: which of its neighbours' a loop reads, and their exchange.
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mesh/arguments.hpp"
#include "mesh/ranks.hpp"

namespace perdure::mesh {

/// Whose elements a loop over `range` reads on some rank; nothing (`nullopt`): more than ghosts hold. It follows from
/// the division, the range and the stencil, and not from the rank, so that all ranks say the same. Pure.
std::optional<Neighbours> need_of(const Use& use, const Box& range);

/// Fills ghosts with what their owners have.
class GhostExchange {
 public:
  explicit GhostExchange(Ranks& ranks) : ranks_(ranks) {}
  /// Those that a loop over `range` reads, and that are stale: one message from each neighbour who has some, of all
  /// data sets together, and all messages at once. The uses are of one block. Returns a data set of which the loop
  /// reads more than ghosts hold, or null; where there is one, nothing is brought. [collective]
  const Dataset* bring(const Box& range, std::span<const Use> uses);
  /// Times at which something was brought, to whichever ranks.
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
  std::array<std::vector<std::byte>, Neighbours::kDirections> out_, in_;  // to and from each neighbour
  std::vector<Ranks::Message> sends_, receives_;
  std::uint64_t exchanges_ = 0, messages_sent_ = 0, bytes_sent_ = 0;
};

}  // namespace perdure::mesh
