#pragma once
// Slot addresses as the engine's replies carry them.
#include "ipc/address_codec.hpp"
#include "tier/tier.hpp"

namespace perdure::session {

inline base::Result<tier::SlotAddress> slot_from_json(const base::Json& json) {
  PERDURE_TRY(const auto wire, ipc::address_from_json(json));
  return tier::SlotAddress{wire.tier, wire.slot, wire.path, wire.offset, wire.capacity, wire.mapped};
}

}  // namespace perdure::session
