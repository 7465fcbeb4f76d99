#pragma once
// Reads a whole chunk of a slot to its destination and hashes it on the way.
#include <vector>

#include "base/hash.hpp"
#include "capture/target.hpp"
#include "tier/slot_io.hpp"

namespace perdure::client {

/// Reads the `length` bytes of a slot to `spans`, which together are as long. PERDURE_CORRUPT about `object` when they
/// do not have this hash; `what` names them.
base::Status read_slot(tier::SlotIo& io, const tier::SlotAddress& slot, std::uint64_t length, const base::Hash128& hash,
                       const std::vector<capture::MemorySpan>& spans, const std::string& object,
                       const std::string& what);

}  // namespace perdure::client
