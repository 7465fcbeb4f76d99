#pragma once
// Damage in the store counts only when two readers saw it. A node with bad memory, or a bad client of the file system,
// must not empty a store. The second reader is on another node if there is one. Otherwise the first reader reads again,
// past its machine's page cache.
#include "client/sources.hpp"

namespace perdure::client {

class Job;

/// Chooses the rank that reads again after `first` found damage: the lowest one of another node, or `first` itself.
/// Pure.
std::uint32_t second_reader(const std::vector<std::uint32_t>& node_of_rank, std::uint32_t first);

/// [collective] Reads the segments again that rank 0 found damaged while it looked at the store. Proven damage is set
/// aside; good segments are in the view then. Without suspects nothing happens, and no rank waits for another.
base::Status read_again(Job& job, StoreView& view);

/// [collective] Does the same for the suspect that any rank found while it read; `mine` is empty on all others. Every
/// suspect is decided when it returns; true when there was one.
base::Result<bool> read_again(Job& job, std::optional<Suspect> mine);

}  // namespace perdure::client
