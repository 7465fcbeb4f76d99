// Runs the fabric wire's thread: it handles completions, and sleeps in between.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "network/fabric_wire.hpp"
#include "os/system.hpp"

namespace perdure::network {
namespace {

constexpr std::uint64_t kLongestPauseNs = 100'000'000;
constexpr int kMillisecond = 1;  // while an operation waits that no event may announce

int in_milliseconds(std::uint64_t ns) { return static_cast<int>(ns / 1'000'000 + 1); }

}  // namespace

void FabricWire::run() {
  bool arrived = false;
  while (!stopping_) {
    drain_completions();
    guard_door(arrived);
    post_waiting();
    report();
    if (!stopping_) arrived = sleep();
  }
}

void FabricWire::guard_door(bool arrived) {
  (void)base::caught("network", [&]() -> base::Status {  // without memory it tries again at its next turn
    const std::lock_guard lock(mutex_);
    door_.guard(arrived, known_.addresses.size(), os::monotonic_ns());
    return {};
  });
}

bool FabricWire::sleep() {
  fid* object = &fabric_.completions->fid;
  int limit_ms = in_milliseconds(sleep_ns_);
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ > 0) limit_ms = kMillisecond;
    if (given_up_ > 0) limit_ms = 0;
  }
  // A completion may have come between looking and sleeping; the provider knows.
  if (::fi_trywait(fabric_.fabric.get(), &object, 1) != FI_SUCCESS) limit_ms = 0;
  pollfd all[3] = {{fabric_.wait_fd, POLLIN, 0}, {wake_.get(), POLLIN, 0}, {door_.listener(), POLLIN, 0}};
  ::poll(all, 3, limit_ms);
  std::uint64_t count = 0;
  if ((all[1].revents & POLLIN) != 0) (void)!::read(wake_.get(), &count, sizeof count);
  return (all[2].revents & POLLIN) != 0;
}

void FabricWire::drain_completions() {
  std::array<fi_cq_msg_entry, 32> entries{};
  while (!stopping_) {
    const ssize_t got = ::fi_cq_read(fabric_.completions.get(), entries.data(), entries.size());
    if (got == -FI_EAVAIL) {
      if (!complete_error()) return;
      continue;
    }
    if (got <= 0) return;
    for (ssize_t i = 0; i < got; ++i)
      if (auto* operation = static_cast<Operation*>(entries[static_cast<std::size_t>(i)].op_context))
        finish(*operation, {}, entries[static_cast<std::size_t>(i)].len);
  }
}

bool FabricWire::complete_error() {
  fi_cq_err_entry entry{};
  if (::fi_cq_readerr(fabric_.completions.get(), &entry, 0) < 0) return false;
  auto* operation = static_cast<Operation*>(entry.op_context);
  if (operation == nullptr) return true;
  base::Error error{PERDURE_UNAVAILABLE, "network", "out of memory", {}, false};  // short enough to need no memory
  (void)base::caught("network", [&]() -> base::Status {
    error = fabric_error(*fabric_.library, entry.err, "transfer", "network");
    return {};
  });
  // Transfers lost in a broken connection can be retried; those that the peer refused stay refused.
  error.retryable = entry.err != FI_EACCES && entry.err != FI_EINVAL && entry.err != FI_EPERM;
  finish(*operation, base::fail(std::move(error)), 0);
  return true;
}

// The thread that began a transfer waits for its end, and the completion has been taken from the provider. So this
// repeats the report until it succeeds, as a thread's failure is (os/thread.hpp).
template <class Tell>
void FabricWire::tell_until_heard(Tell tell) noexcept {
  for (std::uint64_t pause_ns = 1'000'000;; pause_ns = std::min(2 * pause_ns, kLongestPauseNs)) {
    try {
      return tell();
    } catch (...) {  // memory is refused, and may be there soon
      if (stopping_) return;
      os::sleep_ns(pause_ns);
    }
  }
}

void FabricWire::tell(std::uint64_t token, const base::Status& status) {
  tell_until_heard([&] { events_->on_transfer(token, status); });
}

// Throws nothing: the rest of the batch comes after it.
void FabricWire::finish(Operation& operation, const base::Status& status, std::size_t bytes) {
  if (operation.kind == Kind::receive) {
    // A message that fails here counts as lost; its buffer takes the next.
    (void)base::caught("message", [&]() -> base::Status {
      if (status) events_->on_message(operation.buffer->span().first(bytes));
      return {};
    });
    const std::lock_guard lock(mutex_);
    if (open_ && post(operation) != 0) let_wait(operation);
    return;
  }
  const WirePeer peer = operation.peer;
  const bool transfer = operation.kind == Kind::transfer;
  const std::uint64_t token = operation.transfer.token;
  bool reported = false;
  bool known = false;
  {
    const std::lock_guard lock(mutex_);
    reported = operation.reported;
    known = known_.peers.contains(peer);
    release(operation);
  }
  if (!status && known && !transfer) tell_until_heard([&] { events_->on_send_failed(peer, status.error()); });
  if (transfer && !reported) tell(token, status);
}

// Reports transfers that were given up. Those that the provider has not taken are over then.
void FabricWire::report() {
  for (;;) {
    std::uint64_t token = 0;
    bool peer_gone = false;
    {
      const std::lock_guard lock(mutex_);
      if (given_up_ == 0) return;
      const auto next =
          std::find_if(operations_.begin(), operations_.end(), [](const Operation& each) { return each.given_up; });
      token = next->transfer.token;
      peer_gone = !known_.peers.contains(next->peer);
      next->given_up = false;
      --given_up_;
      if (std::exchange(next->reported, true)) continue;
      if (next->waits) release(*next);
    }
    const base::Status over = peer_gone ? base::fail(PERDURE_PEER_FAILED, "transfer", "peer is gone", {}, true)
                                        : base::fail(PERDURE_UNAVAILABLE, "transfer", "peer takes none", {}, true);
    tell(token, over);
  }
}

}  // namespace perdure::network
