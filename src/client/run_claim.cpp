#include "client/run_claim.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/name_claims.hpp"
#include "os/system.hpp"
#include "plan/lease.hpp"
#include "store/owner_watch.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kRunWatch_ns = 50'000'000;  // time between two looks at a record that is watched
constexpr unsigned kRunRenewalsPerLease = 4;

base::Error runs_already(const std::string& name, const store::Owner& runner) {
  return {PERDURE_BUSY, "checkpoint " + name, "it runs already: " + runner.text(),
          "wait for its end, or end it: two copies would write the same files. perdure resume --again brings it back "
          "all the same",
          false};
}

/// Processes on this machine can be seen; for others, a lease says whether they live.
plan::LeaseVerdict judge(const store::Owner& there, store::OwnerWatch& watch, std::uint64_t lease_ns) {
  const auto seen = watch.look(there);
  if (seen.same_machine && !there.ended)
    return seen.process_lives ? plan::LeaseVerdict::busy : plan::LeaseVerdict::take;
  plan::LeaseFacts facts;
  facts.owned = !there.ended;
  facts.renewed = seen.renewed;
  facts.watched_ns = seen.watched_ns;
  facts.lease_ns = std::max(there.lease_ns, lease_ns);
  return plan::judge_lease(facts);
}

}  // namespace

RunClaim::RunClaim(std::unique_ptr<store::Store> store, std::string name, store::Owner self)
    : store_(std::move(store)), name_(std::move(name)), written_(std::move(self)) {}

base::Result<std::unique_ptr<RunClaim>> RunClaim::take(const config::Config& config, const std::string& name,
                                                       bool again) {
  PERDURE_TRY(auto store, store::make_store(config.text("store.path"), config.below("store.")));
  const auto lease_ns = static_cast<std::uint64_t>(config.real("checkpoint.lease") * 1e9);
  std::unique_ptr<RunClaim> claim(
      new RunClaim(std::move(store), name, this_launch(config.text("job"), "", "", lease_ns)));
  PERDURE_CHECK(claim->try_all(again, Messages(config)));
  if (claim->held_) PERDURE_CHECK(claim->renew_in_background());
  return claim;
}

// A store that cannot answer, or takes no record, stops nothing: the restore reports the error.
base::Status RunClaim::try_all(bool again, const Messages& messages) {
  store::OwnerWatch watch(written_.host);
  for (bool told = false;; os::sleep_ns(kRunWatch_ns)) {
    const auto there = store::runner(*store_, name_);
    if (!there && there.error().code != PERDURE_CORRUPT) return {};
    const std::optional<store::Owner> known = there ? *there : std::nullopt;
    const auto verdict = known && !again ? judge(*known, watch, written_.lease_ns) : plan::LeaseVerdict::take;
    if (verdict == plan::LeaseVerdict::busy) return base::fail(runs_already(name_, *known));
    if (verdict == plan::LeaseVerdict::take && try_to_take(known)) return {};
    if (verdict == plan::LeaseVerdict::wait && !std::exchange(told, true))
      messages.say("checkpoint " + name_ + " may be running: " + known->text() + "; waiting for up to " +
                   std::to_string(std::max(known->lease_ns, written_.lease_ns) / 1'000'000'000) +
                   " s whether that still lives");
  }
}

// False: another process was quicker, and is judged next.
bool RunClaim::try_to_take(const std::optional<store::Owner>& there) {
  written_.beat = (there ? there->beat : 0) + 1;  // each record differs from all before
  const auto taken = store::set_runner(*store_, name_, there, written_);
  held_ = taken.has_value();
  if (taken || taken.error().code == PERDURE_NOT_FOUND) return true;
  if (taken.error().code == PERDURE_EXISTS) return false;
  note_ = "others are not told that it runs: " + taken.error().text();
  return true;
}

base::Status RunClaim::renew_in_background() {
  auto begun = os::Thread::start(
      "runner of " + name_,
      [this] {
        std::unique_lock lock(mutex_);
        const std::chrono::nanoseconds pause(written_.lease_ns / kRunRenewalsPerLease);
        while (!wake_.wait_for(lock, pause, [this] { return stopping_; })) set(written_);
      },
      [this](const base::Error&) {
        const std::lock_guard lock(mutex_);
        return !stopping_;  // a failed renewal is tried again soon enough
      });
  if (!begun) return base::fail(begun.error());
  thread_ = std::move(*begun);
  return {};
}

// Runs under the mutex. Another process's record (--again) stays. A record that could not be written now is written
// with the next renewal.
void RunClaim::set(const store::Owner& next) {
  if (!held_) return;
  store::Owner renewed = next;
  renewed.beat = written_.beat + 1;
  const auto done = store::set_runner(*store_, name_, written_, renewed);
  if (done) written_ = renewed;
  if (!done && done.error().code == PERDURE_EXISTS) held_ = false;
}

void RunClaim::runs(std::int32_t process) {
  const std::lock_guard lock(mutex_);
  store::Owner next = written_;
  next.process = process;
  next.started = os::process_started(process);
  set(next);
}

void RunClaim::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void RunClaim::leave() {
  stop();
  held_ = false;
}

RunClaim::~RunClaim() {
  base::attempt([this] {
    stop();
    store::Owner ended = written_;
    ended.ended = true;
    set(ended);
  });
}

}  // namespace perdure::client
