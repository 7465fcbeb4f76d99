#pragma once
// Finds segments that the store has lost, although nodes brought them there and still hold them. Pure.
#include <cstdint>
#include <vector>

#include "client/inventory.hpp"

namespace perdure::client {

/// Segments of one version that the store has lost; all of each is still in the slots of the node that brought it.
struct StoreLoss {
  segment::VersionId id;
  std::uint32_t node = 0;
  std::vector<std::uint32_t> segments;  ///< their indices
  base::Runs<std::uint32_t> ranks;      ///< ranks of the version that are in them
  std::uint32_t of_ranks = 0;           ///< number of ranks that wrote the version
};

/// Gives, in the order of `all.held`, the losses of the candidates. A loss is a segment that a node counts as stored
/// and the store, looked at afterwards, did not have. The store must still have a segment of the version, or have all
/// in quarantine. Otherwise the version was not damaged, or not only: somebody removed it. Empty if some of the store
/// could not be read.
std::vector<StoreLoss> store_losses(const JobInventory& all, const StoreView& store, const Candidates& candidates);

}  // namespace perdure::client
