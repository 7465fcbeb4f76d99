#pragma once
// What a recovery needs of the network: nodes by their addresses, not by positions of a group. Thread-safe.
#include <memory>
#include <vector>

#include "engine/recover/export_messages.hpp"
#include "engine/replicate/group_link.hpp"

namespace perdure::engine {

/// Its positions are the nodes that it was made for.
class PieceLink : public GroupLink {
 public:
  /// Blocks until that node has answered, refused, or cannot be reached.
  virtual base::Result<ExportAnswer> ask(unsigned position, const ExportQuestion& question) = 0;
  /// Waits a moment only. It is told again until it has heard it, or is lost.
  virtual void tell(unsigned position, const ExportEnd& end) = 0;
};

class PieceNetwork {
 public:
  using Address = std::vector<std::byte>;
  virtual ~PieceNetwork() = default;
  /// Of this node's endpoint.
  virtual Address address() const = 0;
  /// How others name the content of a slot of this node.
  virtual base::Result<BlockPlace> place(const tier::SlotAddress& slot) = 0;
  /// What a place of this node shows; nothing when it is none.
  virtual std::optional<BlockView> view(const BlockPlace& place, std::uint64_t bytes) = 0;
  /// Begins to connect to all of them.
  virtual std::unique_ptr<PieceLink> connect(std::vector<Address> nodes) = 0;
};

}  // namespace perdure::engine
