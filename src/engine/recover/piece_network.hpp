#pragma once
// What a recovery needs of the network: nodes by their addresses, not by positions of a group. Thread-safe.
#include <memory>
#include <vector>

#include "engine/replicate/group_link.hpp"

namespace perdure::engine {

class PieceNetwork {
 public:
  using Address = std::vector<std::byte>;
  virtual ~PieceNetwork() = default;
  /// Of this node's endpoint.
  virtual Address address() const = 0;
  /// What a place of this node shows; nothing when it is none.
  virtual std::optional<BlockView> view(const BlockPlace& place, std::uint64_t bytes) = 0;
  /// Whose positions are these nodes. Begins to connect to all of them.
  virtual std::unique_ptr<GroupLink> connect(std::vector<Address> nodes) = 0;
};

}  // namespace perdure::engine
