// Runs the replicator's threads, which take one job after another, and follows captures.
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

// A parity server may never answer, so a thread of its own asks it while all else goes on. If that thread is refused,
// the others ask the server.
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
    step_timers();
    deliver(guard);
    if (stopping_) return;
    if (auto job = jobs_.next(threads_.asks_server ? who : ReplicationJobs::For::all)) {
      const ToWake others = needed();
      guard.unlock();
      rouse(others);
      const base::Status ran = base::caught("replication", [&job]() -> base::Status {
        job->run();
        return {};
      });
      job->run = {};  // without the mutex, since it may have the last reference to the network
      guard.lock();
      jobs_.done(job->kind);
      if (!ran) ledger_.report("replication failed, and goes on: " + ran.error().text());
      if (job->kind == ReplicationJobs::Kind::drop) outbox_.changed = true;  // the engine may have waited for it
    } else {
      // A step may have added jobs for other kinds of threads.
      if (who == ReplicationJobs::For::server) rouse(needed());
      if (server_needed()) threads_.wake_server.notify_one();
      sleep(guard, who);
    }
  }
}

// Wakes one thread for each job, and none for nothing, because waking one costs more than most jobs.
Replicator::ToWake Replicator::needed() noexcept {
  unsigned asleep = 0;
  bool server_idle = false;
  std::uint64_t alarm_ns = ~std::uint64_t{0};
  for (const FreeThread* one = threads_.idle; one != nullptr; one = one->next) {
    asleep += one->of_server ? 0 : 1;
    server_idle = server_idle || one->of_server;
    alarm_ns = std::min(alarm_ns, one->until_ns);
  }
  const bool told = !outbox_.changed && outbox_.ask_store.empty();
  const auto who = threads_.asks_server ? ReplicationJobs::For::all_else : ReplicationJobs::For::all;
  const std::size_t looks = (told ? 0 : 1) + (next_timer_ns() < alarm_ns ? 1 : 0);
  const bool other = jobs_.waiting(who) + looks > threads_.roused && asleep > threads_.roused;
  if (other) ++threads_.roused;
  // If all others are busy, the server's thread looks at timers and the outbox, too.
  const bool server = asleep == 0 && looks > 0 && server_idle;
  return {server || server_needed(), other};
}

bool Replicator::server_needed() const noexcept {
  const FreeThread* one = threads_.idle;
  while (one != nullptr && !one->of_server) one = one->next;
  return one != nullptr && jobs_.waiting(ReplicationJobs::For::server) > 0;
}

void Replicator::rouse(const ToWake& needed) {
  if (needed.other) threads_.wake.notify_one();
  if (needed.server) threads_.wake_server.notify_one();
}

void Replicator::sleep(std::unique_lock<std::mutex>& guard, ReplicationJobs::For who) {
  const bool of_server = who == ReplicationJobs::For::server;
  FreeThread self{next_timer_ns(), of_server, threads_.idle};
  threads_.idle = &self;
  std::condition_variable& wake = of_server ? threads_.wake_server : threads_.wake;
  const std::uint64_t now_ns = os::monotonic_ns();
  if (self.until_ns == ~std::uint64_t{0})
    wake.wait(guard);
  else
    wake.wait_for(guard, std::chrono::nanoseconds(self.until_ns - std::min(now_ns, self.until_ns)));
  FreeThread** link = &threads_.idle;
  while (*link != &self) link = &(*link)->next;
  *link = self.next;
  if (!of_server && threads_.roused > 0) --threads_.roused;
}

std::uint64_t Replicator::next_timer_ns() const noexcept {
  std::uint64_t next_ns = ~std::uint64_t{0};
  for (const auto& [id, tracked] : versions_)
    for (const auto& [epoch, entry] : tracked.by_epoch)
      if (entry->wake_at_ns != 0) next_ns = std::min(next_ns, entry->wake_at_ns);
  return next_ns;
}

// Steps may have added jobs and new times.
void Replicator::step_timers() {
  const std::uint64_t now_ns = os::monotonic_ns();
  for (const auto& entry : entries())
    if (entry->wake_at_ns != 0 && entry->wake_at_ns <= now_ns) (void)step(entry, event::Timer{});
}

// The mutex is free meanwhile.
void Replicator::deliver(std::unique_lock<std::mutex>& guard) {
  if (!outbox_.changed && outbox_.ask_store.empty()) return;
  const Outbox out = std::exchange(outbox_, {});
  guard.unlock();
  bool told = false;
  base::attempt([&] {  // memory may be refused there; the mutex is held again in any case
    if (options_.ask_store)
      for (const auto& id : out.ask_store) options_.ask_store(id);
    if (out.changed) changed_();
    told = true;
  });
  guard.lock();
  if (!told) outbox_.changed = true;  // retried when a thread comes by
}

// ---- captures and commits (docs/adr/0014)

bool Replicator::replicates_captures() const {
  return group_ && options_.during_capture && group_->group.scheme->when == redundancy::When::while_captured;
}

void Replicator::capturing(const segment::VersionId& id) {
  const Held held(*this);
  if (!replicates_captures()) return;
  // Nobody would begin to replicate it before its commit.
  if (find(id) == nullptr && ledger_.captures_less(id, options_.least_early_bytes)) return;
  want_published(id, Publication::Wanted::news);
}

void Replicator::reevaluate_captures() {
  const Held held(*this);
  if (!replicates_captures()) return;
  for (const auto& entry : entries())
    if (entry->phase() == ReplicationPhase::capturing) want_published(entry->id().version, Publication::Wanted::news);
}

void Replicator::want_published(const segment::VersionId& id, Publication::Wanted wanted) {
  auto& publication = versions_[id].publication;
  if (!publication) publication = std::make_shared<Publication>();
  publication->wanted = std::max(publication->wanted, wanted);
  if (!publication->running) begin_publishing(id, publication);
}

void Replicator::begin_publishing(const segment::VersionId& id, const std::shared_ptr<Publication>& publication) {
  jobs_.add(ReplicationJobs::Kind::publish, id.attempt, [this, id, publication] {
    const base::Status done = base::caught(id, [&]() -> base::Status {
      publish(id, publication);
      return {};
    });
    if (done) return;
    std::lock_guard guard(mutex_);
    publication->running = false;
    if (const EntryPointer entry = find(id)) give_up(entry, done.error());
  });
  // set after the job was added: the job waits for the mutex, and if add() throws there is none
  publication->running = true;
}

// Ranks that capture would wait for the processors that encoding takes, and that would not bring level node sooner. So
// an uncommitted version waits for other news of the capture, or for its commit.
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
    const auto read = base::caught(id, [&]() -> base::Result<News> {
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
