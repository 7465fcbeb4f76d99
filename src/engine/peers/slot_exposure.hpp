#pragma once
// Slots of this node's tiers as memory that the engines of its group may read. Thread-safe.
#include <map>
#include <mutex>

#include "engine/replicate/block_encoder.hpp"
#include "network/endpoint.hpp"
#include "os/memory_map.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

/// A slot is mapped and exposed when it is first asked for, and when it has grown, and stays so: it is used again for
/// other chunks, and readers compare what they read with its hash anyway. The slot of a tier with a way of its own to
/// move bytes cannot be mapped: what peers see is a copy in memory, made anew whenever the slot is asked for. Must live
/// as long as the endpoint.
class SlotExposure {
 public:
  explicit SlotExposure(network::Endpoint& endpoint) : endpoint_(endpoint) {}
  base::Result<BlockPlace> place(const tier::SlotAddress& slot);
  /// What a place of this node shows; nothing when it is none.
  std::optional<BlockView> view(const BlockPlace& place, std::uint64_t bytes);

 private:
  /// `mapping` is of the slot's file, or memory that holds a copy.
  struct Exposed {
    os::Mapping mapping;
    std::vector<std::byte> name;
  };
  base::Result<os::Mapping> copy_of(const tier::SlotAddress& slot);
  base::Result<BlockPlace> expose(const tier::SlotAddress& slot, os::Mapping mapping,
                                  std::optional<network::FileHint> hint);

  network::Endpoint& endpoint_;
  tier::SlotIo io_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::uint64_t>, Exposed> slots_;
  std::vector<Exposed> outgrown_;  ///< of slots that are longer now; peers may still know them
};

}  // namespace perdure::engine
