#pragma once
// What the store has lost of what nodes brought there and still hold. Pure.
#include <cstdint>
#include <vector>

#include "client/inventory.hpp"

namespace perdure::client {

/// Segments of one version that the store has no more; all of each is still in the slots of the node that brought it.
struct StoreLoss {
  segment::VersionId id;
  std::uint32_t node = 0;
  std::vector<std::uint32_t> segments;  ///< their indices
  base::Runs<std::uint32_t> ranks;      ///< of the version, that are in them
  std::uint32_t of_ranks = 0;           ///< that wrote the version
};

/// In the order of `all.held`: of the candidates, what nodes count as stored and the store, when it was looked at
/// afterwards, did not have. Only of versions of which it still has a segment, or all in quarantine: others were not
/// damaged, or not only; somebody removed them. Nothing where some of the store could not be read.
std::vector<StoreLoss> store_losses(const JobInventory& all, const StoreView& store, const Candidates& candidates);

}  // namespace perdure::client
