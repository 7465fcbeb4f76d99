#include "client/name_claims.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "os/affinity.hpp"
#include "os/directory.hpp"
#include "os/system.hpp"
#include "plan/lease.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kWatch_ns = 50'000'000;          // time between two looks at a record that is watched
constexpr std::uint64_t kTold_after_ns = 1'000'000'000;  // a longer wait is told
constexpr unsigned kRenewalsPerLease = 4;

std::string random_launch() {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(os::random_u64()),
                static_cast<unsigned long long>(os::random_u64()));
  return text;
}

base::Error busy(const std::string& name, const store::Owner& owner) {
  return {PERDURE_BUSY, "checkpoint " + name, "another launch writes it: " + owner.text(),
          "give this program another checkpoint name or store.path, or end the other one; when that is dead, start "
          "again: its "
          "name is free when it has not renewed it for checkpoint.lease",
          false};
}

base::Error of_another_job(const std::string& name, const store::Owner& owner) {
  return {
      PERDURE_MISMATCH, "checkpoint " + name, "in this store it belongs to " + owner.text(),
      "to go on with its versions, set the option job to '" + owner.job +
          "'; else give this program another checkpoint name or store.path, or give the versions up: perdure forget " +
          name,
      false};
}

base::Error of_another_case(const std::string& name, const store::Owner& owner, const std::string& mine) {
  return {PERDURE_MISMATCH, "checkpoint " + name,
          "in this store it belongs to case '" + owner.study + "', this is case '" + mine + "'",
          "give this program another checkpoint name or store.path, or the option case of what it is to go on with; or "
          "give "
          "the versions up: perdure forget " +
              name,
          false};
}

std::string whole_seconds(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f s", static_cast<double>(ns) * 1e-9);
  return text;
}

std::string told_wait(const std::string& name, const store::Owner& owner) {
  return "checkpoint " + name + " was not closed by " + owner.text() + "; waiting for up to " +
         whole_seconds(owner.lease_ns) + " whether that still lives";
}

std::string told_wait_for_news(const std::string& name, std::uint64_t lease_ns) {
  return "checkpoint " + name + ": the record of who writes it is damaged; waiting for up to " +
         whole_seconds(lease_ns) + " whether a program that lives writes it again";
}

}  // namespace

store::Owner this_launch(const std::string& job, const std::string& study, const std::string& launch,
                         std::uint64_t lease_ns) {
  static const std::string drawn = random_launch();
  store::Owner self;
  self.job = job;
  self.study = study;
  self.launch = launch.empty() ? drawn : launch;
  self.host = os::process_space();
  self.process = os::process_id();
  self.started = os::process_started(self.process);
  self.user = os::user_name();
  self.since_ns = os::wall_clock_ns();
  self.lease_ns = lease_ns;
  return self;
}

// Restarts of one `perdure run` are one launch, and it begins the next when the last has ended. But a killed process on
// this machine may not be gone yet.
bool NameClaims::ours(const store::Owner& owner) const {
  return owner.launch == self_.launch && (owner.host != self_.host || is_this_process(owner));
}

bool NameClaims::is_this_process(const store::Owner& owner) const {
  return owner.launch == self_.launch && owner.host == self_.host && owner.process == self_.process &&
         owner.started == self_.started;
}

base::Status NameClaims::hold(const std::string& name, Access access) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = held_.find(name); known != held_.end())
      return known->second ? base::Status(base::fail(busy(name, *known->second))) : base::Status();
  }
  store::OwnerWatch watch(self_.host);
  const std::uint64_t begun_ns = os::monotonic_ns();
  for (bool told = false;; os::sleep_ns(kWatch_ns)) {
    if (auto outcome = try_to_take(name, access, watch)) {
      if (*outcome) look_at_place(name, access == Access::write ? store::Missing::make : store::Missing::leave);
      return *outcome;
    }
    if (told || os::monotonic_ns() - begun_ns < kTold_after_ns) continue;
    if (watch.damaged())
      messages_.say(told_wait_for_news(name, self_.lease_ns));
    else if (watch.watched())
      messages_.say(told_wait(name, *watch.watched()));
    else
      continue;
    told = true;
  }
}

std::vector<std::string> NameClaims::news() {
  auto all = std::exchange(news_, {});
  if (auto whose = news_of_store(); !whose.empty()) all.push_back(std::move(whose));
  return all;
}

// Another user's store is no error, but may come from a wrong path.
std::string NameClaims::news_of_store() {
  const std::string& directory = store_.properties().directory;
  if (directory.empty() || std::exchange(told_whose_, true)) return {};
  const auto root = os::Directory::open(directory);
  if (!root) return {};
  const auto found = root->identity();
  if (!found || found->user == os::user_id() || found->user == 0) return {};
  return "the store " + directory + " belongs to user " + os::user_name(found->user);
}

// A store that cannot be seen now says nothing: the earlier knowledge stays. If the store is not there at the first
// look, it has nothing of the name.
void NameClaims::look_at_place(const std::string& name, store::Missing missing) {
  const auto seen = store_.incarnation(name, missing);
  const std::lock_guard lock(mutex_);
  if (seen) incarnations_[name] = *seen;
  if (!seen && seen.error().code == PERDURE_NOT_FOUND) incarnations_.insert({name, store::kNoIncarnation});
}

std::uint64_t NameClaims::incarnation(const std::string& name) {
  const auto known = [&]() -> std::uint64_t {
    const std::lock_guard lock(mutex_);
    const auto found = incarnations_.find(name);
    return found == incarnations_.end() ? 0 : found->second;
  };
  if (const std::uint64_t now = known(); now != 0) return now;
  look_at_place(name, store::Missing::leave);
  return known();
}

std::optional<base::Status> NameClaims::try_to_take(const std::string& name, Access access, store::OwnerWatch& watch) {
  auto read = store_.owner(name);
  // The first flush would make the store's directory, too; two launches may begin before it.
  const auto lacks = [](const base::Error& error) {
    return error.code == PERDURE_NOT_FOUND || error.code == PERDURE_UNAVAILABLE;
  };
  if (!read && access == Access::write && lacks(read.error())) {
    const auto prepared = store_.prepare();
    if (!prepared && prepared.error().code == PERDURE_UNAVAILABLE) return base::fail(prepared.error());
    if (prepared) read = store_.owner(name);
  }
  // The name's place is a link or somebody else's, and may not be looked into. Then nothing can be brought there.
  const auto lasts = [](const base::Error& error) {
    return error.code == PERDURE_UNSUPPORTED || error.code == PERDURE_PERMISSION;
  };
  if (!read && read.error().code == PERDURE_CORRUPT) return try_to_replace_damaged(name, read.error(), watch);
  if (!read && lasts(read.error())) return base::fail(read.error());
  return read ? take_from(name, access, *read, watch) : base::Status();
}

std::optional<base::Status> NameClaims::take_from(const std::string& name, Access access,
                                                  const std::optional<store::Owner>& there, store::OwnerWatch& watch) {
  if (!there && access == Access::read) return base::Status();
  if (there && there->job != self_.job) return base::fail(of_another_job(name, *there));
  if (there && !there->study.empty() && !self_.study.empty() && there->study != self_.study)
    return base::fail(of_another_case(name, *there, self_.study));
  const auto verdict = plan::judge_lease(there ? facts_of(*there, watch) : plan::LeaseFacts());
  if (verdict == plan::LeaseVerdict::wait) return std::nullopt;
  if (verdict == plan::LeaseVerdict::busy) return base::fail(busy(name, *there));
  const auto taken = store_.set_owner(name, there, successor(there));
  if (taken) return keep(name);
  // Another launch was quicker: then the record says which.
  return taken.error().code == PERDURE_EXISTS ? std::nullopt : std::optional(base::Status());
}

// A living owner writes the record again (renew()), and is judged then. After a lease no owner lives.
std::optional<base::Status> NameClaims::try_to_replace_damaged(const std::string& name, const base::Error& damage,
                                                               store::OwnerWatch& watch) {
  plan::LeaseFacts facts;
  facts.owned = true;
  facts.watched_ns = watch.look_damaged().watched_ns;
  facts.lease_ns = self_.lease_ns;
  if (plan::judge_lease(facts) == plan::LeaseVerdict::wait) return std::nullopt;
  const auto taken = store_.set_owner(name, std::nullopt, successor_of_damaged());
  if (!taken) return taken.error().code == PERDURE_EXISTS ? std::nullopt : std::optional(base::Status());
  news_.push_back("checkpoint " + name + ": " + damage.object + " was damaged (" + damage.cause +
                  "), and nobody wrote it again within " + whole_seconds(self_.lease_ns) +
                  ": this launch has taken the name");
  return keep(name);
}

plan::LeaseFacts NameClaims::facts_of(const store::Owner& there, store::OwnerWatch& watch) const {
  const auto seen = watch.look(there);
  return {.owned = !there.ended,
          .ours = ours(there),
          .same_machine = seen.same_machine,
          .process_lives = seen.process_lives,
          .renewed = seen.renewed,
          .watched_ns = seen.watched_ns,
          .lease_ns = std::max(there.lease_ns, self_.lease_ns)};
}

// Each record differs from all before it, so that a watcher sees that it changed.
store::Owner NameClaims::successor(const std::optional<store::Owner>& there) const {
  store::Owner next = self_;
  if (there) next.beat = there->beat;
  ++next.beat;
  if (there && next.study.empty()) next.study = there->study;
  return next;
}

store::Owner NameClaims::successor_of_damaged() const {
  store::Owner next = self_;
  next.beat = os::wall_clock_ns();  // greater than any number of renewals
  return next;
}

base::Status NameClaims::keep(const std::string& name) {
  const std::lock_guard lock(mutex_);
  held_[name] = std::nullopt;
  if (thread_.joinable()) return {};
  auto begun = os::Thread::start(
      "owner of names",
      [this] {
        os::use_cpus(cpus_);
        run();
      },
      [this](const base::Error&) {
        const std::lock_guard inner(mutex_);
        return !stopping_;  // a failed renewal is tried again soon enough
      });
  if (!begun) {
    held_.erase(name);
    return base::fail(begun.error());
  }
  thread_ = std::move(*begun);
  return {};
}

void NameClaims::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::nanoseconds(self_.lease_ns / kRenewalsPerLease),
                         [this] { return stopping_; })) {
    lock.unlock();
    renew();
    lock.lock();
  }
}

// A record that cannot be read or written now is tried again soon enough. A forgotten name is taken again, and a
// damaged record is written again.
void NameClaims::renew() {
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, lost_to] : held_)
      if (!lost_to) names.push_back(name);
  }
  for (const std::string& name : names) {
    const auto there = store_.owner(name);
    if (!there && there.error().code == PERDURE_CORRUPT)
      (void)store_.set_owner(name, std::nullopt, successor_of_damaged());
    if (!there) continue;
    if (*there && !is_this_process(**there)) {  // a restart of this very launch, too: it took us for dead
      const std::lock_guard lock(mutex_);
      held_[name] = **there;
      continue;
    }
    (void)store_.set_owner(name, *there, successor(*there));
    look_at_place(name, store::Missing::make);
  }
}

NameClaims::~NameClaims() {
  base::attempt([this] { release(); });
}

void NameClaims::release() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  for (const auto& [name, lost_to] : std::exchange(held_, {})) {
    const auto there = store_.owner(name);
    const bool damaged = !there && there.error().code == PERDURE_CORRUPT;
    if (lost_to || (!damaged && (!there || !*there || !is_this_process(**there)))) continue;
    store::Owner ended = damaged ? successor_of_damaged() : **there;
    ended.ended = true;
    ++ended.beat;
    (void)store_.set_owner(name, damaged ? std::nullopt : *there, ended);
  }
}

}  // namespace perdure::client
