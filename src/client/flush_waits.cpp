#include "client/flush_waits.hpp"

#include <algorithm>

#include "os/system.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kLongestWait_ns = 30'000'000'000;
// How often the engine is asked whether its flushes move anything.
constexpr std::uint64_t kLook_ns = 500'000'000;

}  // namespace

std::uint64_t lost_between(const ipc::FlushProgress& before, const ipc::FlushProgress& now, std::uint64_t took_ns) {
  return now.store_failing || now.bytes_moved == before.bytes_moved ? took_ns : 0;
}

FlushWaits::FlushWaits(Job& job)
    : job_(job),
      patience_ns_(
          std::max(static_cast<std::uint64_t>(job.config().real("flush.give_up_after") * 1e9), kLongestWait_ns)) {}

base::Result<bool> FlushWaits::await(const segment::VersionId& id) {
  if (waited_ns_ >= kLongestWait_ns) return false;
  ipc::Channel& channel = job_.engine().channel();
  const std::uint64_t begun = os::monotonic_ns();
  const auto stored = channel.call(ipc::WaitStored{id, kLongestWait_ns - waited_ns_});
  if (!stored && !channel.connected()) return base::fail(stored.error());
  waited_ns_ += os::monotonic_ns() - begun;
  return true;
}

base::Result<bool> FlushWaits::await_half_flushed(const segment::VersionId& id) {
  if (lost_ns_ >= patience_ns_) return false;
  ipc::Channel& channel = job_.engine().channel();
  PERDURE_TRY(ipc::FlushProgress before, channel.call(ipc::Progress{}));
  while (lost_ns_ < patience_ns_) {
    const std::uint64_t begun = os::monotonic_ns();
    const auto stored = channel.call(ipc::WaitStored{id, kLook_ns});
    if (!stored && !channel.connected()) return base::fail(stored.error());
    if (stored || stored.error().code != PERDURE_TIMEOUT) break;
    PERDURE_TRY(const ipc::FlushProgress now, channel.call(ipc::Progress{}));
    lost_ns_ += lost_between(before, now, os::monotonic_ns() - begun);
    before = now;
  }
  return true;
}

}  // namespace perdure::client
