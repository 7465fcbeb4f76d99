#pragma once
// Exposes slots of this node's tiers as memory that the engines of its group may read. Thread-safe.
#include <map>
#include <mutex>

#include "engine/replicate/block_encoder.hpp"
#include "network/endpoint.hpp"
#include "os/memory_map.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

/// A slot is mapped and exposed when it is first requested, and again when it has grown, and stays exposed. It may be
/// reused for other chunks, since readers compare what they read with its hash anyway.
/// A slot of a tier with its own way to move bytes cannot be mapped. Peers then see a copy in memory, made anew for
/// every request. This object must live as long as the endpoint.
class SlotExposure {
 public:
  explicit SlotExposure(network::Endpoint& endpoint) : endpoint_(endpoint) {}
  base::Result<BlockPlace> place(const tier::SlotAddress& slot);
  /// Returns the bytes of a place of this node; nullopt if it is no place of this node.
  std::optional<BlockView> view(const BlockPlace& place, std::uint64_t bytes);

 private:
  /// `mapping` maps the slot's file, or memory that holds a copy.
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
