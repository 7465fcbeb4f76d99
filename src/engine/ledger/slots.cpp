#include "engine/ledger/slots.hpp"

namespace perdure::engine {
namespace {

std::optional<SlotHolder> next_holder(SlotHolder holder, SlotEvent event) {
  const bool of_rank = holder == SlotHolder::rank || holder == SlotHolder::written;
  const auto only = [](bool possible, SlotHolder after) { return possible ? std::optional(after) : std::nullopt; };
  switch (event) {
    case SlotEvent::grant:
      return only(holder == SlotHolder::nobody, SlotHolder::rank);
    case SlotEvent::write:
      return only(holder == SlotHolder::rank, SlotHolder::written);
    case SlotEvent::settle:
      return only(of_rank, SlotHolder::nobody);
    case SlotEvent::reserve:
      return only(holder == SlotHolder::nobody, SlotHolder::redundancy);
    case SlotEvent::keep:
      return only(holder == SlotHolder::redundancy, SlotHolder::nobody);
    case SlotEvent::host:
      return only(holder == SlotHolder::redundancy, SlotHolder::guest);
    case SlotEvent::read_begins:
    case SlotEvent::read_ends:
      return holder;
    case SlotEvent::free:
      return SlotHolder::nobody;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SlotOutcome> next(SlotState state, SlotEvent event) {
  const auto holder = next_holder(state.holder, event);
  if (!holder) return std::nullopt;
  const bool read = state.reading != SlotReading::no;
  switch (event) {
    case SlotEvent::grant:
    case SlotEvent::reserve:  // the tier has not got it back yet
      if (read) return std::nullopt;
      break;
    case SlotEvent::read_begins:
      if (state.reading == SlotReading::yes_then_free) return std::nullopt;
      return SlotOutcome{{*holder, SlotReading::yes}, false};
    case SlotEvent::read_ends:
      if (!read) return std::nullopt;
      return SlotOutcome{{*holder, SlotReading::no}, state.reading == SlotReading::yes_then_free};
    case SlotEvent::free:
      return SlotOutcome{{*holder, read ? SlotReading::yes_then_free : SlotReading::no}, !read};
    default:
      break;
  }
  return SlotOutcome{{*holder, state.reading}, false};
}

SlotState Slots::state(SlotKey slot) const {
  const auto it = entries_.find(slot);
  return it == entries_.end() ? SlotState() : it->second.state;
}

bool Slots::happens(SlotKey slot, SlotEvent event) {
  const auto outcome = next(state(slot), event);
  if (!outcome) return false;
  if (outcome->state == SlotState())
    entries_.erase(slot);
  else
    entries_[slot].state = outcome->state;
  if (outcome->release) tiers_[slot.first]->release(slot.second);
  return true;
}

void Slots::grant(SlotKey slot, Granted granted) {
  if (happens(slot, SlotEvent::grant)) entries_[slot].granted = std::move(granted);
}

const Slots::Granted* Slots::granted(SlotKey slot) const {
  const auto it = entries_.find(slot);
  if (it == entries_.end()) return nullptr;
  const SlotHolder holder = it->second.state.holder;
  return holder == SlotHolder::rank || holder == SlotHolder::written ? &it->second.granted : nullptr;
}

std::vector<SlotKey> Slots::granted_to(ClientId client, const segment::VersionId* id) const {
  std::vector<SlotKey> slots;
  for (const auto& [slot, entry] : entries_) {
    const Granted* held = granted(slot);
    if (held != nullptr && held->client == client && (id == nullptr || held->id == *id)) slots.push_back(slot);
  }
  return slots;
}

}  // namespace perdure::engine
