#include "parity/channel.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace perdure::parity {
namespace {

auto deadline_in(std::uint64_t timeout_ns) {
  const std::uint64_t longest = 3'600'000'000'000;  // so that no sum wraps around
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::min(timeout_ns, longest));
}

}  // namespace

Channel::Channel(Client& client, const ChannelOptions& options) : client_(client), options_(options) {
  for (Ring* ring : {&send_, &receive_}) {
    ring->memory.resize(options.slots * options.slot_bytes);
    ring->slots.resize(options.slots);
  }
}

base::Result<std::unique_ptr<Channel>> Channel::open(Client& client, const ChannelOptions& options) {
  if (options.slots == 0 || options.slot_bytes == 0 || options.under_way == 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, "channel", "its rings have no buffers, or nobody who empties them");
  std::unique_ptr<Channel> channel(new Channel(client, options));
  PERDURE_TRY(channel->send_.exposed, client.endpoint().expose(channel->send_.memory, network::Access::read));
  Channel* self = channel.get();
  for (unsigned i = 0; i < options.under_way; ++i) {
    PERDURE_CHECK(self->begin(self->send_, true));
    PERDURE_CHECK(self->begin(self->receive_, false));
  }
  return channel;
}

Channel::~Channel() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  threads_.join();  // waits for them
  if (!send_.exposed) return;
  client_.endpoint().withdraw(*send_.exposed);
  if (doubtful_) client_.retire(std::move(send_.memory));
}

base::Result<std::size_t> Channel::take_slot(std::unique_lock<std::mutex>& lock, Ring& ring, std::uint64_t timeout_ns) {
  const auto deadline = deadline_in(timeout_ns);
  for (;;) {
    for (std::size_t i = 0; i < ring.slots.size(); ++i)
      if (ring.slots[i].state == State::free) return i;
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout)
      return base::fail(PERDURE_TIMEOUT, "channel", "all buffers are in use",
                        "free those of transfers that are over, or allow more time", true);
  }
}

std::uint64_t Channel::launch(Ring& ring, std::size_t slot, const PoolMemory& memory, std::uint64_t offset,
                              std::size_t bytes) {
  ring.slots[slot] = {State::waiting, next_ticket_++, memory, offset, bytes, {}};
  ring.waiting.push_back(slot);
  changed_.notify_all();
  return ring.slots[slot].ticket;
}

base::Result<std::uint64_t> Channel::put(const PoolMemory& memory, std::uint64_t offset, ConstByteSpan source,
                                         std::uint64_t timeout_ns) {
  if (source.size() > options_.slot_bytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, "channel", "a put has at most the bytes of one buffer");
  std::unique_lock lock(mutex_);
  PERDURE_TRY(const std::size_t slot, take_slot(lock, send_, timeout_ns));
  if (!source.empty()) std::memcpy(buffer_of(send_, slot, source.size()).data(), source.data(), source.size());
  return launch(send_, slot, memory, offset, source.size());
}

base::Result<std::uint64_t> Channel::get(const PoolMemory& memory, std::uint64_t offset, std::size_t bytes,
                                         std::uint64_t timeout_ns) {
  if (bytes > options_.slot_bytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, "channel", "a get has at most the bytes of one buffer");
  std::unique_lock lock(mutex_);
  PERDURE_TRY(const std::size_t slot, take_slot(lock, receive_, timeout_ns));
  return launch(receive_, slot, memory, offset, bytes);
}

Channel::Slot* Channel::find(std::uint64_t ticket, Ring** found) {
  for (Ring* ring : {&send_, &receive_})
    for (Slot& slot : ring->slots)
      if (slot.state != State::free && slot.ticket == ticket) {
        *found = ring;
        return &slot;
      }
  return nullptr;
}

base::Result<Notification> Channel::wait(std::uint64_t ticket, std::uint64_t timeout_ns) {
  const auto deadline = deadline_in(timeout_ns);
  std::unique_lock lock(mutex_);
  for (;;) {
    Ring* ring = nullptr;
    const Slot* slot = find(ticket, &ring);
    if (slot == nullptr)
      return base::fail(PERDURE_NOT_FOUND, "channel", "there is no transfer " + std::to_string(ticket));
    if (slot->state == State::over) {
      const auto number = static_cast<std::size_t>(slot - ring->slots.data());
      const bool got = ring == &receive_ && slot->status;
      return Notification{ticket, slot->status, got ? buffer_of(*ring, number, slot->bytes) : ByteSpan()};
    }
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout)
      return base::fail(PERDURE_TIMEOUT, "channel", "transfer " + std::to_string(ticket) + " is not over", {}, true);
  }
}

void Channel::free(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  Ring* ring = nullptr;
  Slot* slot = find(ticket, &ring);
  if (slot == nullptr || slot->state != State::over) return;
  slot->state = State::free;
  changed_.notify_all();
}

unsigned Channel::slots_free() const {
  const std::lock_guard lock(mutex_);
  unsigned count = 0;
  for (const Ring* ring : {&send_, &receive_})
    for (const Slot& slot : ring->slots) count += slot.state == State::free;
  return count;
}

ByteSpan Channel::buffer_of(Ring& ring, std::size_t slot, std::size_t bytes) const {
  return ByteSpan(ring.memory).subspan(slot * options_.slot_bytes, bytes);
}

base::Status Channel::begin(Ring& ring, bool sends) {
  return threads_.start(
      "parity channel", [this, &ring, sends] { work(ring, sends); },
      [this](const base::Error&) {
        const std::lock_guard lock(mutex_);
        return !closing_;
      });
}

void Channel::work(Ring& ring, bool sends) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || !ring.waiting.empty(); });
    if (ring.waiting.empty()) return;
    const std::size_t number = ring.waiting.front();
    ring.waiting.pop_front();
    ring.slots[number].state = State::under_way;
    lock.unlock();
    base::Status status = base::caught("channel", [&] { return transfer(ring, number, sends); });
    lock.lock();
    doubtful_ = doubtful_ || (sends && !status);
    ring.slots[number].status = std::move(status);
    ring.slots[number].state = State::over;
    changed_.notify_all();
  }
}

/// Transfers through the slot, which is this thread's while it is in flight.
base::Status Channel::transfer(Ring& ring, std::size_t number, bool sends) {
  const Slot& slot = ring.slots[number];
  const ByteSpan buffer = buffer_of(ring, number, slot.bytes);
  if (!sends) return client_.get(slot.memory, slot.offset, buffer);
  if (slot.bytes <= std::min(options_.inline_bytes, kMaxInline)) return client_.put(slot.memory, slot.offset, buffer);
  return client_.put(slot.memory, slot.offset, *ring.exposed, number * options_.slot_bytes, slot.bytes);
}

}  // namespace perdure::parity
