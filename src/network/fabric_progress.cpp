// The fabric wire's thread: completions, and sleep in between.
#include <poll.h>
#include <unistd.h>

#include <array>

#include "network/fabric_wire.hpp"
#include "os/system.hpp"

namespace perdure::network {
namespace {

constexpr int kMillisecond = 1;  // while something waits that no event may announce

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
  const std::lock_guard lock(mutex_);
  door_.guard(arrived, known_.addresses.size(), os::monotonic_ns());
}

bool FabricWire::sleep() {
  fid* object = &fabric_.completions->fid;
  int limit_ms = in_milliseconds(sleep_ns_);
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) limit_ms = kMillisecond;
    if (!failed_transfers_.empty()) limit_ms = 0;
  }
  // Something may have come between looking and sleeping; the provider knows.
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
  base::Error error = fabric_error(*fabric_.library, entry.err, "transfer", "network");
  // What a broken connection swallowed can be tried again; what the peer refused stays refused.
  error.retryable = entry.err != FI_EACCES && entry.err != FI_EINVAL && entry.err != FI_EPERM;
  finish(*operation, base::fail(std::move(error)), 0);
  return true;
}

void FabricWire::finish(Operation& operation, base::Status status, std::size_t bytes) {
  if (operation.kind == Kind::receive) {
    // A message that fails here is a lost one; its buffer takes the next.
    (void)base::caught("message", [&]() -> base::Status {
      if (status) events_->on_message(operation.buffer->span().first(bytes));
      return {};
    });
    const std::lock_guard lock(mutex_);
    if (open_ && post(operation) != 0) waiting_.push_back(&operation);
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
  if (!status && known && !transfer) events_->on_send_failed(peer, status.error());
  if (transfer && !reported) events_->on_transfer(token, std::move(status));
}

void FabricWire::report() {
  for (;;) {
    std::pair<std::uint64_t, base::Error> failed;
    {
      const std::lock_guard lock(mutex_);
      if (failed_transfers_.empty()) return;
      failed = std::move(failed_transfers_.front());
      failed_transfers_.pop_front();
    }
    events_->on_transfer(failed.first, base::fail(std::move(failed.second)));
  }
}

}  // namespace perdure::network
