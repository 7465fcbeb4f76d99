#include "engine/ledger/write_times.hpp"

#include <algorithm>
#include <cmath>

namespace perdure::engine {

void WriteTimes::pass(double now_s) {
  if (now_s <= now_s_) return;
  for (Tier& tier : tiers_) tier.writer_seconds += tier.writers * (now_s - now_s_);
  now_s_ = now_s;
}

void WriteTimes::begin(double now_s, Client& client) {
  Tier& tier = tiers_[client.slots.front().first];
  ++tier.writers;
  client.began_s = now_s;
  client.writer_seconds = tier.writer_seconds;
}

void WriteTimes::granted(double now_s, ClientId client, SlotKey slot) {
  pass(now_s);
  Client& writer = clients_[client];
  writer.slots.push_back(slot);
  if (writer.slots.size() == 1) begin(now_s, writer);
}

std::optional<WriteTimes::Observation> WriteTimes::written(double now_s, ClientId client, SlotKey slot,
                                                           std::uint64_t bytes) {
  pass(now_s);
  std::optional<Observation> observed;
  const auto it = clients_.find(client);
  if (it == clients_.end()) return observed;
  const Client& writer = it->second;
  const double seconds = now_s - writer.began_s;
  if (writer.slots.front() == slot && seconds > 0) {
    const double writers = (tiers_[slot.first].writer_seconds - writer.writer_seconds) / seconds;
    observed = Observation{static_cast<unsigned>(std::max(std::lround(writers), 1L)),
                           writers * static_cast<double>(bytes) / seconds};
  }
  remove(now_s, client, slot);
  return observed;
}

void WriteTimes::dropped(double now_s, ClientId client, SlotKey slot) {
  pass(now_s);
  remove(now_s, client, slot);
}

void WriteTimes::remove(double now_s, ClientId id, SlotKey slot) {
  const auto it = clients_.find(id);
  if (it == clients_.end()) return;
  auto& slots = it->second.slots;
  const auto found = std::find(slots.begin(), slots.end(), slot);
  if (found == slots.end()) return;
  const bool first = found == slots.begin();
  slots.erase(found);
  if (first) --tiers_[slot.first].writers;
  if (slots.empty()) {
    clients_.erase(it);
  } else if (first) {
    begin(now_s, it->second);
  }
}

unsigned WriteTimes::writers(std::uint32_t tier, ClientId besides) const {
  const auto it = clients_.find(besides);
  const bool is_one = it != clients_.end() && it->second.slots.front().first == tier;
  return tiers_[tier].writers - (is_one ? 1 : 0);
}

}  // namespace perdure::engine
