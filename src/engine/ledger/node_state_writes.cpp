// Slots between their grant and the stage of the piece that they belong to.
#include <algorithm>

#include "engine/ledger/node_state.hpp"
#include "engine/ledger/now.hpp"

namespace perdure::engine {

void NodeState::take_in_flight(ClientId client, const ipc::Grant& request, SlotKey slot, bool fresh) {
  Slots::Granted taken{client, request.id, request.bytes, 0, slots_.readers(slot.first), fresh};
  auto& counts = versions_.at(request.id).granted;
  counts.resize(tiers_.size());
  ++counts[slot.first];
  expected_.granted(client, request.id);
  if (auto* device = tiers_[slot.first]->device()) taken.stream = device->start(request.bytes);
  slots_.grant(slot, std::move(taken));
  writes_.granted(now_s(), client, slot);
}

std::optional<base::Status> NodeState::written(ClientId client, const ipc::Written& written) {
  const SlotKey slot{written.tier, written.slot};
  const auto* granted = slots_.granted(slot);
  if (granted == nullptr || granted->client != client || granted->id != written.id || written.bytes > granted->bytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, written.id.text(), "a chunk is in a slot that was not granted for it");
  auto* device = tiers_[written.tier]->device();
  if (device != nullptr && !device->over(granted->stream)) return std::nullopt;
  if (!slots_.happens(slot, SlotEvent::write)) return base::Status();
  tiers_[written.tier]->written(written.slot);
  learn(*granted, written.tier, writes_.written(now_s(), client, slot, written.bytes));
  return note_written(written);
}

void NodeState::give_back(ClientId client, const ipc::GiveBack& back) {
  const SlotKey slot{back.tier, back.slot};
  const auto* granted = slots_.granted(slot);
  if (granted == nullptr || granted->client != client || granted->id != back.id ||
      slots_.state(slot).holder == SlotHolder::written)
    return;
  settle(slot);
  release_slot(back.id, slot);
}

// A first use of memory, and the short chunk at the end of a capture, are slow for reasons that are not the tier's.
// What flushes read meanwhile is not known exactly.
void NodeState::learn(const Slots::Granted& granted, std::uint32_t tier,
                      const std::optional<WriteTimes::Observation>& observed) {
  if (!observed || granted.fresh || granted.bytes < options_.chunk_bytes / 2) return;
  models_[tier].observe(observed->writers, observed->bytes_per_s, std::max(granted.readers, slots_.readers(tier)));
}

// Staged or given back: nobody writes it any more.
void NodeState::settle(SlotKey slot) {
  const auto* known = slots_.granted(slot);
  if (known == nullptr) return;
  const Slots::Granted granted = *known;
  if (auto* device = tiers_[slot.first]->device()) device->cancel(granted.stream);
  if (slots_.state(slot).holder == SlotHolder::rank) writes_.dropped(now_s(), granted.client, slot);
  (void)slots_.happens(slot, SlotEvent::settle);
  --versions_.at(granted.id).granted[slot.first];
  versions_.tidy(granted.id);
}

bool NodeState::emulated() const {
  return std::any_of(tiers_.begin(), tiers_.end(), [](const auto& tier) { return tier->device() != nullptr; });
}

// Asked for each write that is waited for: a device that fell idle since somebody looked has no next event, and yet
// news for whoever waits.
double NodeState::ask_again_in_s(const ipc::Written& written) const {
  const auto* granted = slots_.granted({written.tier, written.slot});
  if (granted == nullptr) return 0;
  auto* device = tiers_[written.tier]->device();
  return device == nullptr ? 0 : device->ask_again_in_s(granted->stream);
}

}  // namespace perdure::engine
