#pragma once
// Finds slots, and reads a whole chunk of one to its destination, with its hash.
#include <vector>

#include "base/hash.hpp"
#include "capture/target.hpp"
#include "ipc/slot_address.hpp"
#include "tier/slot_io.hpp"

namespace perdure::client {

/// Decodes the address in an engine's reply.
inline tier::SlotAddress slot_of(const ipc::SlotAddress& slot) {
  return {slot.tier, slot.slot, slot.path, slot.offset, slot.capacity, slot.mapped, slot.fresh, slot.access};
}

/// Reads the `length` bytes of a slot to `spans`, which together are as long. PERDURE_CORRUPT about `object` when they
/// do not have this hash; `what` names them.
base::Status read_slot(tier::SlotIo& io, const tier::SlotAddress& slot, std::uint64_t length, const base::Hash128& hash,
                       const std::vector<capture::MemorySpan>& spans, const std::string& object,
                       const std::string& what);

}  // namespace perdure::client
