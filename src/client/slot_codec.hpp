#pragma once
// Encodes slot addresses as the engine's replies carry them.
#include "ipc/slot_address.hpp"
#include "tier/tier.hpp"

namespace perdure::client {

inline tier::SlotAddress slot_of(const ipc::SlotAddress& slot) {
  return {slot.tier, slot.slot, slot.path, slot.offset, slot.capacity, slot.mapped, slot.fresh, slot.access};
}

}  // namespace perdure::client
