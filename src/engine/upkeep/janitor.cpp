#include "engine/upkeep/janitor.hpp"

#include <algorithm>
#include <chrono>
#include <map>

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

// What it was at is due again with the next version, or the next look at all names.
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

// What killed processes left: hidden versions, temporary segments of attempts older than the newest complete one.
void Janitor::clean_store() {
  auto names = store_.names();
  if (!names) return;  // no store yet, or not reachable now: nothing to clean
  std::map<std::string, segment::Attempt> newest;
  for (const auto& name : *names) {
    auto listings = store_.list(name);
    if (!listings) continue;
    for (const auto& listing : *listings)
      if (listing.all_present()) newest[name] = std::max(newest[name], listing.id.attempt);
  }
  auto cleaned = store_.clean([&newest](const segment::VersionId& id, std::uint32_t) {
    auto it = newest.find(id.name);
    return it != newest.end() && id.attempt < it->second;
  });
  if (!cleaned && cleaned.error().code != PERDURE_NOT_FOUND)
    reports_.add("cleaning the store: " + cleaned.error().text());
}

base::Result<std::vector<JudgedListing>> Janitor::judge(const std::string& name) {
  PERDURE_TRY(const auto listings, store_.list(name));
  std::vector<JudgedListing> judged;
  for (const auto& listing : listings) judged.push_back({listing.id, listing.all_present()});
  // What everything older will be given up for must be good: verify manifests from the newest attempt down to the first
  // good one.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < judged.size(); ++i)
    if (judged[i].complete) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return judged[a].id.attempt > judged[b].id.attempt; });
  for (std::size_t i : order) {
    const auto read = store::read_version(store_, listings[i]);
    if (read) break;
    judged[i].complete = false;
    judged[i].damaged = read.error().code == PERDURE_CORRUPT;
  }
  return judged;
}

base::Result<RetentionDecision> Janitor::retire_old(const std::string& name) {
  // A removal that failed half way is hidden from the listing: it is finished first, and nothing else is cleaned.
  if (failing_.contains(name))
    PERDURE_CHECK(store_.clean([](const segment::VersionId&, std::uint32_t) { return false; }));
  PERDURE_TRY(const auto judged, judge(name));
  RetentionDecision decision = decide_retention(policy_, judged);
  if (!decision.remove.empty()) PERDURE_CHECK(store_.make_lasting(decision.newest));
  for (const auto& id : decision.remove) {
    os::crash_point(os::CrashPoint::retire_begin);
    PERDURE_CHECK(store_.remove(id));
    ++retired_;
    os::crash_point(os::CrashPoint::retire_done);
  }
  return decision;
}

// What fails is tried again, and reported once until it works.
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
