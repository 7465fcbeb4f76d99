#include "engine/serve/lifetime.hpp"

#include <algorithm>

#include "engine/flush/flusher.hpp"
#include "engine/peers/node_group.hpp"
#include "engine/pipeline/pipeline.hpp"
#include "engine/upkeep/janitor.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kPatienceNs = 5'000'000'000;  // for retention and for other nodes, at the end

}  // namespace

Lifetime::Lifetime(Ledger& ledger, Flusher& flusher, Janitor& janitor, Pipeline& pipeline, NodeGroup* group,
                   std::uint64_t idle_exit_ns)
    : ledger_(ledger),
      flusher_(flusher),
      janitor_(janitor),
      pipeline_(pipeline),
      group_(group),
      idle_exit_ns_(idle_exit_ns),
      idle_since_ns_(os::monotonic_ns()) {}

void Lifetime::shut_down() {
  if (draining_since_ns_ == 0) draining_since_ns_ = os::monotonic_ns();
}

void Lifetime::rank_left() { idle_since_ns_ = os::monotonic_ns(); }

// It covers only time that has to pass: threads that finish their work wake the server's thread.
std::uint64_t Lifetime::end_at_ns(Presence presence) {
  const bool may_end = shutting_down() || idle_exit_ns_ != 0;
  if (!may_end || told_over_ || !quiet(presence) || presence.strangers) return 0;
  const std::uint64_t now = os::monotonic_ns(), idle_over_ns = idle_since_ns_ + idle_exit_ns_;
  if (!shutting_down() && now < idle_over_ns) return idle_over_ns;
  const std::uint64_t patient_until_ns = std::max(draining_since_ns_, idle_since_ns_) + kPatienceNs;
  return now < patient_until_ns || janitor_.idle() ? patient_until_ns : 0;
}

bool Lifetime::quiet(Presence presence) {
  bool pending = true;
  if (!presence.ranks && flusher_.idle()) {
    const auto ledger = ledger_.lock();
    pending = ledger->pending_versions() > 0;
  }
  if (!pending && pipeline_.idle()) return group_quiet();
  only_group_since_ns_ = 0;
  return false;
}

// Blocks that other nodes have not taken over yet are at hand only here. A node that does not answer is not waited for
// much longer.
bool Lifetime::group_quiet() {
  if (group_ == nullptr || !group_->under_way()) return true;
  const std::uint64_t now = os::monotonic_ns();
  if (only_group_since_ns_ == 0) only_group_since_ns_ = now;
  return now >= only_group_since_ns_ + kPatienceNs;
}

bool Lifetime::patient() const {
  return os::monotonic_ns() < std::max(draining_since_ns_, idle_since_ns_) + kPatienceNs;
}

void Lifetime::finish_if_idle(Presence presence) {
  const bool idle_over = idle_exit_ns_ != 0 && os::monotonic_ns() >= idle_since_ns_ + idle_exit_ns_;
  if (!quiet(presence)) {
    idle_since_ns_ = os::monotonic_ns();
    return;
  }
  if ((!idle_over && !shutting_down()) || presence.strangers) return;
  // Other nodes may still be writing their part of the newest version. Retention waits for them, but not for ever.
  if (!janitor_.idle() || (patient() && !janitor_.settled())) return;
  told_over_ = true;
  end();
}

void Lifetime::end() {
  {
    std::lock_guard guard(over_mutex_);
    over_ = true;
  }
  over_changed_.notify_all();
}

void Lifetime::wait_until_over() {
  std::unique_lock guard(over_mutex_);
  over_changed_.wait(guard, [this] { return over_; });
}

}  // namespace perdure::engine
