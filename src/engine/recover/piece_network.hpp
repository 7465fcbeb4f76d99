#pragma once
// A recovery uses the network through this interface: by addresses of nodes, not by positions of a group. Thread-safe.
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
  /// Waits a moment only. The message is sent again until the node has received it, or is lost.
  virtual void tell(unsigned position, const ExportEnd& end) = 0;
};

class PieceNetwork {
 public:
  using Address = std::vector<std::byte>;
  virtual ~PieceNetwork() = default;
  /// Returns the address of this node's endpoint.
  virtual Address address() const = 0;
  /// Returns the name by which other nodes read the content of a slot of this node.
  virtual base::Result<BlockPlace> place(const tier::SlotAddress& slot) = 0;
  /// Returns the bytes of a place of this node; nullopt if it is no place of this node.
  virtual std::optional<BlockView> view(const BlockPlace& place, std::uint64_t bytes) = 0;
  /// Begins to connect to all of them.
  virtual std::unique_ptr<PieceLink> connect(std::vector<Address> nodes) = 0;
};

}  // namespace perdure::engine
