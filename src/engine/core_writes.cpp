// Slots between their grant and the stage of the piece that they belong to.
#include <algorithm>

#include "engine/core.hpp"
#include "engine/now.hpp"

namespace perdure::engine {

void Core::take_in_flight(ClientId client, const ipc::Grant& request, SlotKey slot, bool fresh) {
  InFlight& taken = in_flight_[slot] = {client, request.id, request.bytes, 0, readers_[slot.first], fresh, false};
  auto& counts = chunks_in_flight_[request.id];
  counts.resize(tiers_.size());
  ++counts[slot.first];
  expected_.granted(client, request.id);
  if (auto* device = tiers_[slot.first]->device()) taken.stream = device->start(request.bytes);
  writes_.granted(now_s(), client, slot);
}

std::optional<base::Status> Core::written(ClientId client, const ipc::Written& written) {
  const SlotKey slot{written.tier, written.slot};
  const auto it = in_flight_.find(slot);
  if (it == in_flight_.end() || it->second.client != client || it->second.id != written.id ||
      written.bytes > it->second.bytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, written.id.text(), "a chunk is in a slot that was not granted for it");
  auto* device = tiers_[written.tier]->device();
  if (device != nullptr && !device->over(it->second.stream)) return std::nullopt;
  if (std::exchange(it->second.written, true)) return base::Status();
  tiers_[written.tier]->written(written.slot);
  learn(it->second, written.tier, writes_.written(now_s(), client, slot, written.bytes));
  return note_written(written);
}

void Core::give_back(ClientId client, const ipc::GiveBack& back) {
  const auto it = in_flight_.find({back.tier, back.slot});
  if (it == in_flight_.end() || it->second.client != client || it->second.id != back.id || it->second.written) return;
  forget_in_flight(it->first, it->second);
  release_slot(back.id, it->first);
  in_flight_.erase(it);
}

// A first use of memory, and the short chunk at the end of a capture, are slow for reasons that are not the tier's.
// What flushes read meanwhile is not known exactly.
void Core::learn(const InFlight& in_flight, std::uint32_t tier,
                 const std::optional<WriteTimes::Observation>& observed) {
  if (!observed || in_flight.fresh || in_flight.bytes < options_.chunk_bytes / 2) return;
  models_[tier].observe(observed->writers, observed->bytes_per_s, std::max(in_flight.readers, readers_[tier]));
}

// Staged or given back: nobody writes it any more.
void Core::forget_in_flight(SlotKey slot, const InFlight& in_flight) {
  if (auto* device = tiers_[slot.first]->device()) device->cancel(in_flight.stream);
  if (!in_flight.written) writes_.dropped(now_s(), in_flight.client, slot);
  const auto counts = chunks_in_flight_.find(in_flight.id);
  --counts->second[slot.first];
  if (std::all_of(counts->second.begin(), counts->second.end(), [](auto count) { return count == 0; }))
    chunks_in_flight_.erase(counts);
}

bool Core::emulated() const {
  return std::any_of(tiers_.begin(), tiers_.end(), [](const auto& tier) { return tier->device() != nullptr; });
}

// Asked for each write that is waited for: a device that fell idle since somebody looked has no next event, and yet
// news for whoever waits.
double Core::look_again_in_s(const ipc::Written& written) const {
  const auto it = in_flight_.find({written.tier, written.slot});
  if (it == in_flight_.end()) return 0;
  auto* device = tiers_[written.tier]->device();
  return device == nullptr ? 0 : device->look_again_in_s(it->second.stream);
}

}  // namespace perdure::engine
