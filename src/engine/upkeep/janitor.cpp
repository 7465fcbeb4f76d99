#include "engine/upkeep/janitor.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "os/crash_point.hpp"

namespace perdure::engine {

Janitor::Janitor(store::Store& store, Reports& reports, plan::RetentionPolicy policy, std::function<void()> idle)
    : store_(store), reports_(reports), policy_(policy), idle_(std::move(idle)) {
  auto begun = os::Thread::start(
      "janitor", [this] { run(); }, [this](const base::Error& why) { return failed(why); });
  if (begun)
    thread_ = std::move(*begun);
  else
    started_ = base::fail(begun.error());
}

// The interrupted work is due again with the next version, or the next look at all names.
bool Janitor::failed(const base::Error& why) {
  {
    std::lock_guard guard(mutex_);
    busy_ = false;
    if (stopping_) return false;
  }
  reports_.add("retention failed: " + why.text());
  return true;
}

void Janitor::activate() {
  {
    std::lock_guard guard(mutex_);
    queue_.activate();
  }
  wake_.notify_all();
}

void Janitor::enforce_retention(const std::string& name) {
  {
    std::lock_guard guard(mutex_);
    queue_.add(name);
  }
  wake_.notify_all();
}

void Janitor::enforce_all() {
  {
    std::lock_guard guard(mutex_);
    queue_.add_all();
  }
  wake_.notify_all();
}

bool Janitor::idle() {
  std::lock_guard guard(mutex_);
  return !queue_.active() || (!busy_ && !queue_.any());
}

bool Janitor::settled() {
  std::lock_guard guard(mutex_);
  return !queue_.active() || (!busy_ && !queue_.any() && !queue_.any_later());
}

void Janitor::stop() {
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Janitor::run() {
  std::unique_lock guard(mutex_);
  while (!stopping_) {
    const auto ready = [this] { return stopping_ || queue_.any(); };
    if (!queue_.any_later())
      wake_.wait(guard, ready);
    else if (!wake_.wait_for(guard, std::chrono::milliseconds(queue_.delay_ms()), ready))
      queue_.delay_over();
    if (stopping_) return;
    busy_ = true;
    const RetentionQueue::Work work = queue_.take();
    guard.unlock();
    const base::Status done = base::caught("retention", [&]() -> base::Status {
      if (work.clean) clean_store();
      for (const auto& name : work.names) enforce_one(name);
      return {};
    });
    if (!done) reports_.add("retention failed and is being retried: " + done.error().text());
    guard.lock();
    if (!done)
      for (const auto& name : work.names) queue_.again(name);
    busy_ = false;
    const bool rest = !queue_.any();
    guard.unlock();
    if (rest) idle_();
    guard.lock();
  }
}

// Removes leftovers of killed processes: hidden versions, and temporary segments of attempts older than the newest
// complete one of their run.
void Janitor::clean_store() {
  auto names = store_.names();
  if (!names) return;  // no store yet, or not reachable now: nothing to clean
  std::map<std::string, std::vector<plan::Fork>> forks;
  const auto of = [&forks](const segment::VersionId& id) {
    return std::pair(id.name, plan::run_of(forks[id.name], plan::branch_of(id.attempt.nonce)));
  };
  std::map<std::pair<std::string, plan::Branch>, segment::Attempt> newest;
  for (const auto& name : *names) {
    auto listings = store_.list(name);
    const auto known = store::forks(store_, name);
    if (!listings || !known) continue;
    forks[name] = *known;
    for (const auto& listing : *listings)
      if (listing.all_present()) {
        segment::Attempt& known = newest[of(listing.id)];
        known = std::max(known, listing.id.attempt);
      }
  }
  auto cleaned = store_.clean([&](const segment::VersionId& id, std::uint32_t) {
    auto it = newest.find(of(id));
    return it != newest.end() && id.attempt < it->second;
  });
  if (!cleaned && cleaned.error().code != PERDURE_NOT_FOUND)
    reports_.add("cleaning the store: " + cleaned.error().text());
}

namespace {

// Returns the line of the newest attempt that is, or was, complete. Readers fall back on that line, too.
plan::Line current_line(const std::vector<JudgedListing>& judged, const std::vector<segment::VersionId>& aside,
                        const std::vector<plan::Fork>& forks) {
  std::optional<segment::Attempt> newest;
  const auto see = [&](const segment::Attempt& attempt) { newest = newest ? std::max(*newest, attempt) : attempt; };
  for (const JudgedListing& one : judged)
    if (one.present) see(one.id.attempt);
  for (const auto& id : aside) see(id.attempt);
  return newest ? plan::line_of(forks, plan::branch_of(newest->nonce)) : plan::Line();
}

}  // namespace

base::Result<std::vector<JudgedListing>> Janitor::judge(const std::string& name, const std::vector<plan::Fork>& forks,
                                                        const std::vector<segment::VersionId>& aside) {
  PERDURE_TRY(const auto listings, store_.list(name));
  std::vector<JudgedListing> judged;
  for (const auto& listing : listings)
    judged.push_back({listing.id, listing.all_present(), false, listing.all_present()});
  // A version for which older ones are given up must be good. On the current line and on each branch that may lose
  // something, manifests are verified from the newest attempt down to the first good one.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < judged.size(); ++i)
    if (judged[i].complete) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return judged[a].id.attempt > judged[b].id.attempt; });
  const plan::Line line = current_line(judged, aside, forks);
  std::map<plan::Branch, std::size_t> there;
  for (std::size_t i : order) ++there[plan::branch_of(judged[i].id.attempt.nonce)];
  std::set<plan::Branch> good;
  bool line_good = false;
  for (std::size_t i : order) {
    const plan::Branch branch = plan::branch_of(judged[i].id.attempt.nonce);
    const bool on_it = plan::on_line(line, judged[i].id.attempt);
    const bool may_lose = there[branch] > policy_.keep_last && plan::related(forks, branch, line.front().branch);
    if (on_it ? line_good : !may_lose || good.contains(branch)) continue;
    const auto read = store::read_version(store_, listings[i]);
    if (read) {
      line_good = line_good || on_it;
      if (!on_it) good.insert(branch);
      continue;
    }
    judged[i].complete = false;
    judged[i].damaged = read.error().code == PERDURE_CORRUPT;
  }
  return judged;
}

base::Result<RetentionDecision> Janitor::retire_old(const std::string& name) {
  // A removal that failed half way is hidden from the listing. It is finished first, and nothing else is cleaned.
  if (failing_.contains(name))
    PERDURE_CHECK(store_.clean([](const segment::VersionId&, std::uint32_t) { return false; }));
  PERDURE_TRY(const auto forks, store::forks(store_, name));
  PERDURE_TRY(const auto quarantined, store_.set_aside(name));
  std::vector<segment::VersionId> aside;
  for (const auto& segment : quarantined) aside.push_back(segment.id);
  PERDURE_TRY(const auto judged, judge(name, forks, aside));
  RetentionDecision decision = decide_retention(policy_, judged, forks, aside);
  if (!decision.remove.empty()) PERDURE_CHECK(store_.make_lasting(decision.newest));
  for (const auto& id : decision.remove) {
    os::crash_point(os::CrashPoint::retire_begin);
    PERDURE_CHECK(store_.remove(id));
    ++retired_;
    os::crash_point(os::CrashPoint::retire_done);
  }
  return decision;
}

// A failure is retried, and reported once until it works.
void Janitor::enforce_one(const std::string& name) {
  const auto decided = retire_old(name);
  if (decided)
    failing_.erase(name);
  else if (decided.error().code == PERDURE_NOT_FOUND)
    return;  // no store, or nothing of this name in it
  else if (failing_.insert(name).second)
    reports_.add("retention of " + name + " failed and is being retried: " + decided.error().text());
  const bool only_late = decided && !decided->unfinished;
  if (only_late && !decided->late) return;
  std::lock_guard guard(mutex_);
  queue_.again(name, only_late ? RetentionQueue::kMostLooksAtOlder : RetentionQueue::kMostLooks);
}

}  // namespace perdure::engine
