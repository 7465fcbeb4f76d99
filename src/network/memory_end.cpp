#include "network/memory_end.hpp"

#include <chrono>
#include <cstring>

#include "os/system.hpp"

namespace perdure::network {

base::Status MemoryEnd::start(WireEvents& events) {
  PERDURE_TRY(thread_, os::Thread::start(
                           "wire", [this, &events] { run(events); },
                           [this](const base::Error&) {
                             const std::lock_guard lock(mutex_);
                             return !stopping_;
                           }));
  return {};
}

void MemoryEnd::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  const std::lock_guard lock(mutex_);
  due_.clear();
}

void MemoryEnd::run(WireEvents& events) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (due_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const std::uint64_t when = due_.begin()->first.first;
    if (const std::uint64_t now = when == 0 ? 0 : os::monotonic_ns(); when > now) {
      changed_.wait_for(lock, std::chrono::nanoseconds(when - now));
      continue;
    }
    auto work = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    lock.unlock();
    work(events);
    lock.lock();
  }
}

void MemoryEnd::later(std::uint64_t delay_ns, std::function<void(WireEvents&)> work) {
  const std::uint64_t when = delay_ns == 0 ? 0 : os::monotonic_ns() + delay_ns;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    due_.emplace(std::pair(when, next_++), std::move(work));
  }
  changed_.notify_one();
}

void MemoryEnd::receive(Bytes message, std::uint64_t delay_ns) {
  later(delay_ns, [bytes = std::move(message)](WireEvents& events) { events.on_message(bytes); });
}

base::Result<WireMemory> MemoryEnd::expose(ByteSpan memory, Access access) {
  const std::lock_guard lock(memory_mutex_);
  std::uint64_t key = os::random_u64();
  while (exposed_.contains(key)) key = os::random_u64();
  exposed_[key] = {memory, access};
  return WireMemory{key, 0, memory.size()};
}

void MemoryEnd::withdraw(std::uint64_t key) {
  const std::lock_guard lock(memory_mutex_);
  exposed_.erase(key);
}

base::Status MemoryEnd::copy(const WireMemory& memory, std::uint64_t offset, ByteSpan buffer, bool write) {
  const std::lock_guard lock(memory_mutex_);
  const auto it = exposed_.find(memory.key);
  if (it == exposed_.end())
    return base::fail(PERDURE_PERMISSION, "remote memory", "the peer exposes nothing under this key");
  const ByteSpan here = it->second.memory;
  if (offset > here.size() || buffer.size() > here.size() - offset)
    return base::fail(PERDURE_INVALID_ARGUMENT, "remote memory", "the range is not in what the peer exposes");
  if (write && it->second.access == Access::read)
    return base::fail(PERDURE_PERMISSION, "remote memory", "the peer lets it only be read");
  if (buffer.empty()) return {};
  if (write)
    std::memcpy(here.data() + offset, buffer.data(), buffer.size());
  else
    std::memcpy(buffer.data(), here.data() + offset, buffer.size());
  return {};
}

}  // namespace perdure::network
