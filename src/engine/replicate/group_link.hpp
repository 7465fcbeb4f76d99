#pragma once
// A node's redundancy uses the network through this interface, by positions of its group. Thread-safe.
#include <functional>
#include <optional>

#include "engine/replicate/block_encoder.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

class GroupLink {
 public:
  virtual ~GroupLink() = default;
  /// From now on every call fails, and calls in progress fail soon.
  virtual void close() noexcept = 0;
  /// Blocks until that position has received the message and agrees, or refused it, or cannot be reached.
  virtual base::Status send(unsigned position, base::ConstByteSpan message) = 0;
  /// Sends without waiting. Another thread calls told() once with the outcome, unless the link is closed before. False:
  /// it would have to wait, and has no effect.
  virtual bool begin_send(unsigned position, base::ConstByteSpan message, std::function<void(base::Status)> told) {
    (void)position, (void)message, (void)told;
    return false;
  }
  /// Returns the name by which other nodes read the content of a slot of this node.
  virtual base::Result<BlockPlace> place(const tier::SlotAddress& slot) = 0;
  /// Returns a block of another position, if it is mapped here.
  virtual std::optional<BlockView> view(unsigned position, const BlockPlace& place, std::uint64_t bytes) = 0;
  virtual base::Status read(unsigned position, const BlockPlace& place, std::uint64_t offset,
                            base::ByteSpan target) = 0;
};

}  // namespace perdure::engine
