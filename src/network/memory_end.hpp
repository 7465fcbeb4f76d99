#pragma once
// Implements one end of the memory wire; its thread does due work in order of time. Private to the wire.
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

#include "base/hash.hpp"
#include "network/wire.hpp"
#include "os/thread.hpp"

namespace perdure::network {

class MemoryEnd {
 public:
  base::Status start(WireEvents& events);
  void stop();
  void receive(Bytes message, std::uint64_t delay_ns);
  /// Runs `work` on this end's thread; never if the end stops before.
  void later(std::uint64_t delay_ns, std::function<void(WireEvents&)> work);
  base::Result<WireMemory> expose(ByteSpan memory, Access access);
  void withdraw(std::uint64_t key);
  /// Copies between `buffer` and exposed memory, as a node's network card would.
  base::Status copy(const WireMemory& memory, std::uint64_t offset, ByteSpan buffer, bool write);

 private:
  struct Exposed {
    ByteSpan memory;
    Access access = Access::read;
  };
  void run(WireEvents& events);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t next_ = 0;
  // By time, then in order of arrival. Without delay the time is 0, so that such work overtakes nothing of its kind.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::function<void(WireEvents&)>> due_;
  os::Thread thread_;
  std::mutex memory_mutex_;
  std::map<std::uint64_t, Exposed> exposed_;
};

}  // namespace perdure::network
