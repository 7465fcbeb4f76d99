#pragma once
// What a node's redundancy needs of the network, by positions of its group. Thread-safe.
#include <functional>
#include <optional>

#include "engine/replicate/block_encoder.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

class GroupLink {
 public:
  virtual ~GroupLink() = default;
  /// From now on everything fails, and soon what is under way.
  virtual void close() noexcept = 0;
  /// Blocks until that position has received the message and agrees, or refused it, or cannot be reached.
  virtual base::Status send(unsigned position, base::ConstByteSpan message) = 0;
  /// The same without waiting: told() hears how it went, once, by another thread, unless the link is closed before.
  /// False: it would have to wait, and does nothing.
  virtual bool begin_send(unsigned position, base::ConstByteSpan message, std::function<void(base::Status)> told) {
    (void)position, (void)message, (void)told;
    return false;
  }
  /// How others name the content of a slot of this node.
  virtual base::Result<BlockPlace> place(const tier::SlotAddress& slot) = 0;
  /// A block of another position, where it is mapped here.
  virtual std::optional<BlockView> view(unsigned position, const BlockPlace& place, std::uint64_t bytes) = 0;
  virtual base::Status read(unsigned position, const BlockPlace& place, std::uint64_t offset,
                            base::ByteSpan target) = 0;
};

}  // namespace perdure::engine
