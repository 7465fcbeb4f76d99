#include "engine/ledger/slot_writes.hpp"

#include <algorithm>

namespace perdure::engine {
namespace {

constexpr std::uint64_t kTelling = 2 * base::MiB;  // the time of shorter chunks depends on messages, not on the tier

}  // namespace

void SlotWrites::release(ClientId client, const segment::VersionId* id) {
  for (const SlotKey& slot : node_.slots.granted_to(client, id)) {
    const segment::VersionId of = node_.slots.granted(slot)->id;
    settle(slot);
    node_.release_slot(of, slot);
  }
}

void SlotWrites::take(ClientId client, const ipc::Grant& request, SlotKey slot, bool fresh) {
  Slots::Granted taken{client, request.id, request.bytes, 0, node_.slots.readers(slot.first), fresh};
  auto& counts = node_.versions.at(request.id).granted;
  counts.resize(node_.tiers.size());
  if (auto* device = node_.tiers[slot.first]->device()) taken.stream = device->start(request.bytes);
  node_.slots.grant(slot, std::move(taken));
  ++counts[slot.first];  // from here on the slot is released with the client, whatever is thrown
  node_.observed.expected.granted(client, request.id);
  node_.observed.writes.granted(node_.now_s(), client, slot);
}

std::optional<base::Status> SlotWrites::written(ClientId client, const ipc::Written& written) {
  const SlotKey slot{written.tier, written.slot};
  const auto* granted = node_.slots.granted(slot);
  if (granted == nullptr || granted->client != client || granted->id != written.id || written.bytes > granted->bytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, written.id.text(), "a chunk is in a slot that was not granted for it");
  auto* device = node_.tiers[written.tier]->device();
  if (device != nullptr && !device->over(granted->stream)) return std::nullopt;
  if (!node_.slots.happens(slot, SlotEvent::write)) return base::Status();
  node_.tiers[written.tier]->written(written.slot);
  learn(*granted, written.tier, node_.observed.writes.written(node_.now_s(), client, slot, written.bytes));
  return captures_.note_written(written);
}

void SlotWrites::give_back(ClientId client, const ipc::GiveBack& back) {
  const SlotKey slot{back.tier, back.slot};
  const auto* granted = node_.slots.granted(slot);
  if (granted == nullptr || granted->client != client || granted->id != back.id ||
      node_.slots.state(slot).holder == SlotHolder::written)
    return;
  settle(slot);
  node_.release_slot(back.id, slot);
}

// The first use of memory, and the short chunk at the end of a capture, are slow for reasons other than the tier.
// Chunks of array parts are shorter than others, and count all the same. The number of flushes that read meanwhile is
// not known exactly.
void SlotWrites::learn(const Slots::Granted& granted, std::uint32_t tier,
                       const std::optional<WriteTimes::Observation>& observed) {
  if (!observed || granted.fresh || granted.bytes < std::min(node_.options.chunk_bytes / 2, kTelling)) return;
  node_.observed.models[tier].observe(observed->writers, observed->bytes_per_s,
                                      std::max(granted.readers, node_.slots.readers(tier)));
}

void SlotWrites::settle(SlotKey slot) {
  const auto* known = node_.slots.granted(slot);
  if (known == nullptr) return;
  const Slots::Granted granted = *known;
  if (auto* device = node_.tiers[slot.first]->device()) device->cancel(granted.stream);
  if (node_.slots.state(slot).holder == SlotHolder::rank)
    node_.observed.writes.dropped(node_.now_s(), granted.client, slot);
  (void)node_.slots.happens(slot, SlotEvent::settle);
  --node_.versions.at(granted.id).granted[slot.first];
  node_.versions.tidy(granted.id);
}

bool SlotWrites::emulated() const {
  return std::any_of(node_.tiers.begin(), node_.tiers.end(),
                     [](const auto& tier) { return tier->device() != nullptr; });
}

// It is asked for each awaited write. A device that became idle since the last look has no next event, yet the waiting
// client must be told.
double SlotWrites::ask_again_in_s(const ipc::Written& written) const {
  const auto* granted = node_.slots.granted({written.tier, written.slot});
  if (granted == nullptr) return 0;
  auto* device = node_.tiers[written.tier]->device();
  return device == nullptr ? 0 : device->ask_again_in_s(granted->stream);
}

}  // namespace perdure::engine
