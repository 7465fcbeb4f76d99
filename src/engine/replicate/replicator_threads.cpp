// The replicator's threads: one job after another, whichever comes first; and how they follow captures.
#include <algorithm>

#include "engine/replicate/replicator.hpp"
#include "os/system.hpp"

namespace perdure::engine {

base::Status Replicator::start_thread(os::Threads& of, ReplicationJobs::For who) {
  return of.start(
      "replication", [this, who] { run(who); },
      [this](const base::Error& why) {
        std::lock_guard guard(mutex_);
        if (!stopping_) ledger_.report("replication failed, and goes on: " + why.text());
        return !stopping_;
      });
}

// A parity server that is asked may never answer: it has a thread of its own, so that all else goes on meanwhile. Where
// that is refused the others ask it.
void Replicator::start_thread_for_server() {
  {
    std::lock_guard guard(mutex_);
    if (threads_.asks_server) return;
    threads_.asks_server = true;
  }
  if (start_thread(threads_.of_server, ReplicationJobs::For::server)) return;
  std::lock_guard guard(mutex_);
  threads_.asks_server = false;
}

void Replicator::run(ReplicationJobs::For who) {
  std::unique_lock guard(mutex_);
  while (!stopping_) {
    const auto wake_at_ns = step_timers();
    deliver(guard);
    if (stopping_) return;
    if (auto job = jobs_.next(threads_.asks_server ? who : ReplicationJobs::For::all)) {
      guard.unlock();
      const base::Status ran = base::caught("replication", [&job]() -> base::Status {
        job->run();
        return {};
      });
      job->run = {};  // without the mutex: it may be the last that has the network
      guard.lock();
      jobs_.done(job->kind);
      if (!ran) ledger_.report("replication failed, and goes on: " + ran.error().text());
      if (job->kind == ReplicationJobs::Kind::drop) outbox_.changed = true;  // the engine may have waited for it
      wake_.notify_all();
    } else if (!wake_at_ns) {
      wake_.wait(guard);
    } else {
      const std::uint64_t now_ns = os::monotonic_ns();
      wake_.wait_for(guard, std::chrono::nanoseconds(*wake_at_ns - std::min(now_ns, *wake_at_ns)));
    }
  }
}

// What was stepped may have given jobs, and new times.
std::optional<std::uint64_t> Replicator::step_timers() {
  std::uint64_t now_ns = os::monotonic_ns();
  for (const auto& entry : entries())
    if (entry->wake_at_ns != 0 && entry->wake_at_ns <= now_ns) (void)step(entry, event::Timer{});
  std::optional<std::uint64_t> next_ns;
  for (const auto& entry : entries())
    if (entry->wake_at_ns != 0) next_ns = std::min(next_ns.value_or(entry->wake_at_ns), entry->wake_at_ns);
  return next_ns;
}

// The mutex is free meanwhile.
void Replicator::deliver(std::unique_lock<std::mutex>& guard) {
  if (!outbox_.changed && outbox_.ask_store.empty()) return;
  const Outbox out = std::exchange(outbox_, {});
  guard.unlock();
  if (options_.ask_store)
    for (const auto& id : out.ask_store) options_.ask_store(id);
  if (out.changed) changed_();
  guard.lock();
}

// ---- captures and commits (docs/adr/0014)

bool Replicator::replicates_captures() const {
  return group_ && options_.during_capture && group_->group.scheme->when == redundancy::When::while_captured;
}

void Replicator::capturing(const segment::VersionId& id) {
  {
    std::lock_guard guard(mutex_);
    if (!replicates_captures()) return;
    want_published(id, Publication::Wanted::news);
  }
  wake_.notify_all();
}

void Replicator::reevaluate_captures() {
  {
    std::lock_guard guard(mutex_);
    if (!replicates_captures()) return;
    for (const auto& entry : entries())
      if (entry->phase() == ReplicationPhase::capturing) want_published(entry->id().version, Publication::Wanted::news);
  }
  wake_.notify_all();
}

void Replicator::want_published(const segment::VersionId& id, Publication::Wanted wanted) {
  auto& publication = versions_[id].publication;
  if (!publication) publication = std::make_shared<Publication>();
  publication->wanted = std::max(publication->wanted, wanted);
  if (!publication->running) begin_publishing(id, publication);
}

void Replicator::begin_publishing(const segment::VersionId& id, const std::shared_ptr<Publication>& publication) {
  publication->running = true;
  jobs_.add(ReplicationJobs::Kind::publish, id.attempt, [this, id, publication] {
    const base::Status done = base::caught(id.text(), [&]() -> base::Status {
      publish(id, publication);
      return {};
    });
    if (done) return;
    std::lock_guard guard(mutex_);
    publication->running = false;
    if (const EntryPointer entry = find(id)) give_up(entry, done.error());
  });
}

// Ranks that capture would wait for the processors that encoding takes, and level node comes no sooner by that: what is
// not committed waits for other news of the capture, or for its commit.
bool Replicator::publishes(const EntryPointer& entry, Publication::Wanted wanted) const {
  if (wanted == Publication::Wanted::commit) return entry && entry->phase() == ReplicationPhase::committed;
  return entry ? entry->phase() < ReplicationPhase::committed : !(options_.busy && options_.busy());
}

void Replicator::publish(const segment::VersionId& id, const std::shared_ptr<Publication>& publication) {
  std::unique_lock guard(mutex_);
  const auto group = group_;
  const auto wanted = std::exchange(publication->wanted, Publication::Wanted::nothing);
  const auto current = [&] {
    const auto it = versions_.find(id);
    return group && group_ == group && it != versions_.end() && it->second.publication == publication;
  };
  EntryPointer entry = current() ? find(id) : nullptr;
  if (current() && publishes(entry, wanted)) {
    guard.unlock();
    const auto read = base::caught(id.text(), [&]() -> base::Result<News> {
      return read_news(id, *group, wanted, entry ? 0 : options_.least_early_bytes, publication->slots);
    });
    const News news = read ? *read : News{event::PublishingFailed{read.error()}};
    guard.lock();
    if (!entry && current()) entry = find(id);
    if (!entry && current() && news.ranks != 0 && past_.find(id) == nullptr)
      entry = find_or_make({id, group->epoch}, news.ranks);
    if (entry && news.event) (void)step(entry, *news.event);
    if (current() && news.over && past_.find(id) == nullptr) past_.note(id, KnownBefore::aborted);
  }
  publication->running = false;
  if (!current()) return;
  const bool goes_on = entry && entry->phase() <= ReplicationPhase::capturing;
  if (publication->wanted != Publication::Wanted::nothing)
    begin_publishing(id, publication);
  else if (!goes_on)
    drop_publication(id);
}

Replicator::News Replicator::read_news(const segment::VersionId& id, const Membership& group,
                                       Publication::Wanted wanted, std::uint64_t least, PublishedSlots& slots) {
  GroupLink& link = *group.link;
  if (wanted == Publication::Wanted::commit) {
    auto published = publisher_.publish(link, id, group.ranks, slots);
    if (!published) return {event::PublishingFailed{published.error()}};
    return {std::move(*published)};
  }
  auto followed = publisher_.follow(link, id, least, slots);
  if (!followed) return {event::PublishingFailed{followed.error()}};
  if (followed->over) return {event::CaptureOver{}, 0, true};
  if (!followed->published) return {};
  return {std::move(*followed->published), followed->ranks};
}

}  // namespace perdure::engine
