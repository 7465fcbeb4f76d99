#include <cstring>
#include <random>

#include "network/memory_end.hpp"
#include "network/memory_wire.hpp"

namespace perdure::network {
namespace {

std::uint64_t id_of(ConstByteSpan address) {
  std::uint64_t id = 0;
  if (address.size() == sizeof id) std::memcpy(&id, address.data(), sizeof id);
  return id;
}

std::uint64_t up_to(std::mt19937_64& random, std::uint64_t limit) { return limit == 0 ? 0 : random() % (limit + 1); }

}  // namespace

Fate decide_fate(const Faults& faults, std::uint64_t seed, std::uint64_t from, std::uint64_t to, std::uint64_t number) {
  const std::uint64_t numbers[] = {seed, from, to, number};
  std::mt19937_64 random(base::hash64(std::as_bytes(std::span(numbers))));
  std::uniform_real_distribution<double> dice(0.0, 1.0);
  Fate fate;
  fate.lost = dice(random) < faults.lose;
  fate.copies = dice(random) < faults.duplicate ? 2 : 1;
  const bool corrupt = dice(random) < faults.corrupt;
  const bool reorder = dice(random) < faults.reorder;
  for (std::uint64_t& delay : fate.delay_ns)
    delay = up_to(random, faults.delay_ns) + (reorder ? up_to(random, faults.reorder_ns) : 0);
  if (corrupt) fate.flip_count = 1 + static_cast<int>(random() % 4);
  for (std::uint64_t& flip : fate.flips) flip = random();
  return fate;
}

std::shared_ptr<MemoryFabric> MemoryFabric::make(std::uint64_t seed, Faults faults) {
  return std::shared_ptr<MemoryFabric>(new MemoryFabric(seed, faults));
}

void MemoryFabric::cut(ConstByteSpan a, ConstByteSpan b) {
  const std::lock_guard lock(mutex_);
  cuts_.insert({id_of(a), id_of(b)});
  cuts_.insert({id_of(b), id_of(a)});
}

void MemoryFabric::cut_off(ConstByteSpan end) {
  const std::lock_guard lock(mutex_);
  cut_off_.insert(id_of(end));
}

void MemoryFabric::heal() {
  const std::lock_guard lock(mutex_);
  cuts_.clear();
  cut_off_.clear();
}

void MemoryFabric::slow_down(ConstByteSpan end, std::uint64_t delay_ns) {
  const std::lock_guard lock(mutex_);
  slow_[id_of(end)] = delay_ns;
}

void MemoryFabric::kill(ConstByteSpan end) {
  const std::lock_guard lock(mutex_);
  dead_.insert(id_of(end));
}

std::shared_ptr<MemoryEnd> MemoryFabric::find(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto it = ends_.find(id);
  return it == ends_.end() ? nullptr : it->second;
}

void MemoryFabric::detach(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  ends_.erase(id);
  dead_.erase(id);
  slow_.erase(id);
  std::erase_if(numbers_, [id](const auto& entry) { return entry.first.first == id || entry.first.second == id; });
}

bool MemoryFabric::carries(std::uint64_t from, std::uint64_t to) const {
  for (const std::uint64_t end : {from, to})
    if (cut_off_.contains(end) || dead_.contains(end)) return false;
  return !cuts_.contains({from, to});
}

bool MemoryFabric::route(std::uint64_t from, std::uint64_t to, std::uint64_t& delay_ns) {
  const std::lock_guard lock(mutex_);
  delay_ns = 0;
  for (const std::uint64_t end : {from, to})
    if (const auto it = slow_.find(end); it != slow_.end()) delay_ns += it->second;
  return carries(from, to) && ends_.contains(to);
}

void MemoryFabric::deliver(std::uint64_t from, std::uint64_t to, ConstByteSpan message) {
  std::uint64_t slow_ns = 0;
  ++messages_;
  const bool carried = route(from, to, slow_ns);
  const auto target = find(to);
  Fate fate;
  {
    const std::lock_guard lock(mutex_);
    fate = decide_fate(faults_, seed_, from, to, numbers_[{from, to}]++);
  }
  if (!carried || fate.lost || target == nullptr) return;
  Bytes bytes(message.begin(), message.end());
  for (int i = 0; i < fate.flip_count && !bytes.empty(); ++i)
    bytes[fate.flips[i] / 8 % bytes.size()] ^= static_cast<std::byte>(1U << (fate.flips[i] % 8));
  for (int copy = 0; copy < fate.copies; ++copy) target->receive(bytes, slow_ns + fate.delay_ns[copy]);
}

}  // namespace perdure::network
