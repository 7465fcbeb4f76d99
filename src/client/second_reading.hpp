#pragma once
// Damage in the store is believed when two readers saw it: one with bad memory, or a bad client of the file system,
// must not empty a store. The second reader is on another node where there is one; otherwise it is the first, which
// reads past its machine's memory of the file.
#include "client/sources.hpp"

namespace perdure::client {

class Job;

/// The rank that reads again what `first` found damaged: the lowest one of another node, or `first` itself. Pure.
std::uint32_t second_reader(const std::vector<std::uint32_t>& node_of_rank, std::uint32_t first);

/// [collective] What rank 0 found damaged while it looked at the store is read again. What proves damaged is set aside;
/// what does not is in the view then. Nothing happens, and no rank waits for another, when nothing was damaged.
base::Status read_again(Job& job, StoreView& view);

/// [collective] The same for what any rank found while it read; `mine` is empty on all others. Every suspect is decided
/// when it returns; true when there was one.
base::Result<bool> read_again(Job& job, std::optional<Suspect> mine);

}  // namespace perdure::client
