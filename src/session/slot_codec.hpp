#pragma once
// Slot addresses as the engine's replies carry them.
#include "base/json.hpp"
#include "ipc/address_codec.hpp"
#include "tier/tier.hpp"

namespace perdure::session {

inline base::Result<tier::SlotAddress> slot_from_json(const base::Json& json) {
  PERDURE_TRY(const auto wire, ipc::address_from_json(json));
  return tier::SlotAddress{wire.tier, wire.slot, wire.path, wire.offset, wire.capacity, wire.mapped, false};
}

/// The slot of a reply to Grant.
inline base::Result<tier::SlotAddress> granted_slot(const base::Json& reply) {
  if (!reply.contains("slot")) return base::fail(PERDURE_CORRUPT, "engine", "the reply has no slot");
  PERDURE_TRY(auto slot, slot_from_json(reply["slot"]));
  PERDURE_TRY(slot.fresh, base::get_bool(reply, "fresh", "engine"));
  return slot;
}

}  // namespace perdure::session
