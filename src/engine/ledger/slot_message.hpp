#pragma once
// Puts a slot's address into the form that messages to clients have.
#include "ipc/slot_address.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

inline ipc::SlotAddress address_in_message(const tier::SlotAddress& slot) {
  return {slot.tier, slot.slot, slot.path, slot.offset, slot.capacity, slot.mapped, slot.fresh, slot.access};
}

}  // namespace perdure::engine
