#include "store/owner_watch.hpp"

#include "os/system.hpp"

namespace perdure::store {

OwnerWatch::Seen OwnerWatch::look(const Owner& there) {
  const std::uint64_t now_ns = os::monotonic_ns();
  if (damaged_ || !owner_ || owner_->launch != there.launch) {
    damaged_ = false;
    owner_ = there;
    since_ns_ = now_ns;
  }
  Seen seen;
  seen.same_machine = there.host == host_;
  seen.process_lives = seen.same_machine && os::process_lives(there.process, there.started);
  seen.renewed = there.beat != owner_->beat;
  seen.watched_ns = now_ns - since_ns_;
  return seen;
}

OwnerWatch::Seen OwnerWatch::look_damaged() {
  const std::uint64_t now_ns = os::monotonic_ns();
  if (!std::exchange(damaged_, true)) since_ns_ = now_ns;
  Seen seen;
  seen.watched_ns = now_ns - since_ns_;
  return seen;
}

}  // namespace perdure::store
