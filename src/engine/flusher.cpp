#include "engine/flusher.hpp"

#include "os/system.hpp"

namespace perdure::engine {
namespace {

// On the way to the store a missing directory is an unmounted or vanished store: it can come back.
bool worth_retrying(const base::Error& error) { return error.retryable || error.code == PERDURE_NOT_FOUND; }

}  // namespace

Flusher::Flusher(Core& core, std::mutex& lock, store::Store& store, Reports& reports, FlusherOptions options,
                 std::function<void(const segment::VersionId&, bool)> changed, std::function<void()> idle)
    : core_(core),
      lock_(lock),
      store_(store),
      reports_(reports),
      options_(options),
      changed_(std::move(changed)),
      idle_(std::move(idle)),
      gate_(lock, options.threads,
            [this] {
              const bool limited = options_.max_slowdown > 0;
              return FlushGate::View{
                  limited ? core_.interference().pressure(options_.max_slowdown) : placement::Pressure{},
                  core_.slots_wanted()};
            }),
      pacing_(options.max_bytes_per_s) {
  thread_ = std::thread([this] { run(); });
}

void Flusher::notify() {
  {
    std::lock_guard guard(lock_);
    work_ = true;
  }
  wake_.notify_all();
}

void Flusher::look_at_captures() {
  {
    std::lock_guard guard(lock_);
    std::erase_if(early_, [](Early& early) {
      if (early.over) early.thread.join();
      return early.over.load();
    });
    while (const auto id = stopping_ ? std::nullopt : core_.next_early_flush()) {
      Early& early = early_.emplace_back();
      early.thread = std::thread([this, id, &early] { run_early(*id, early); });
    }
  }
  news_.notify_all();
}

void Flusher::stop() {
  {
    std::lock_guard guard(lock_);
    stopping_ = true;
    gate_.shut();
  }
  wake_.notify_all();
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (Early& early : early_)
    if (early.thread.joinable()) early.thread.join();
}

void Flusher::somebody_waits(bool waits) {
  std::lock_guard guard(lock_);
  gate_.somebody_waits(waits);
}

void Flusher::look_at_application() {
  std::lock_guard guard(lock_);
  gate_.look_again();
}

void Flusher::pace(std::uint64_t begun_ns, std::uint64_t bytes) {
  std::uint64_t delay = 0;
  {
    std::lock_guard guard(pacing_mutex_);
    delay = pacing_.delay_ns(begun_ns, os::monotonic_ns(), bytes);
  }
  os::sleep_ns(delay);
}

void Flusher::wake_all() {
  {
    const std::lock_guard nobody_is_between_looking_and_waiting(lock_);
    gate_.look_again();
  }
  news_.notify_all();
}

void Flusher::works(bool& busy) {
  if (!std::exchange(busy, true)) ++working_;
}

void Flusher::rests(bool& busy) {
  if (std::exchange(busy, false) && --working_ == 0) idle_();
}

void Flusher::run() {
  bool busy = false;
  for (;;) {
    std::optional<segment::VersionId> id;
    {
      std::unique_lock guard(lock_);
      wake_.wait(guard, [this] { return work_ || stopping_; });
      if (stopping_) return;
      id = core_.next_flush();
      work_ = id.has_value();
      if (id) works(busy);
    }
    if (id) {
      const std::uint64_t begin = os::monotonic_ns();
      const FlushOutcome outcome = attempt(*id, false, busy);
      if (!stopping_) (void)finish(*id, outcome, static_cast<double>(os::monotonic_ns() - begin) * 1e-9, busy);
    } else {
      clean_leftovers();
      rests(busy);
    }
  }
}

void Flusher::run_early(const segment::VersionId& id, Early& self) {
  const auto error = flush_early(id);
  {
    std::lock_guard guard(lock_);
    core_.early_flush_over(id, error);
  }
  if (!stopping_) {
    changed_(id, false);  // who waits for a slot of it is told why there is none
    notify();             // to remove what it left, or to try again later
  }
  self.over = true;
}

// The error that it was given up for; nothing when it is stored, or nobody wants it any more.
std::optional<base::Error> Flusher::flush_early(const segment::VersionId& id) {
  bool busy = false;
  for (;;) {
    const std::uint64_t begin = os::monotonic_ns();
    const FlushOutcome outcome = attempt(id, true, busy);
    works(busy);
    Next next = Next::done;
    if (!stopping_) next = finish(id, outcome, static_cast<double>(os::monotonic_ns() - begin) * 1e-9, busy);
    if (next == Next::again && !stopping_) continue;
    rests(busy);
    if (next == Next::given_up) return outcome.status.error();
    return std::nullopt;
  }
}

FlushJob Flusher::job_for(const segment::VersionId& id, catalog::HeldVersion version) {
  FlushJob job;
  job.version = std::move(version);
  job.address = [this](const segment::ChunkEntry& chunk) {
    std::lock_guard guard(lock_);
    return core_.address(chunk);
  };
  job.device = [this](std::uint32_t tier) { return core_.tiers()[tier]->device(); };
  job.slow = [this](std::uint32_t tier) {
    return !core_.tiers()[tier]->properties().mapped || core_.tiers()[tier]->device() != nullptr;
  };
  job.chunk_begins = [this, id](const FlushedChunk& chunk) {
    std::lock_guard guard(lock_);
    return core_.flush_chunk_begins(id, chunk);
  };
  job.chunk_ended = [this, id](const FlushedChunk& chunk, const auto& started, bool stored) {
    bool wanted = false;
    {
      std::lock_guard guard(lock_);
      const auto observed = core_.flush_chunk_ended(id, chunk, started, stored, options_.room != nullptr);
      if (observed) gate_.observe(*observed);
      wanted = stored && core_.slots_wanted();
    }
    if (wanted && options_.room) options_.room();
  };
  job.slots_wanted = [this] {
    std::lock_guard guard(lock_);
    return core_.slots_wanted();
  };
  job.over = [this, id] {
    std::lock_guard guard(lock_);
    return core_.attempt_over(id);
  };
  job.threads = options_.threads;
  job.enter = [this](bool reading, const std::atomic<bool>& failed) { return gate_.enter(reading, failed); };
  job.leave = [this](const FlushGate::Pass& pass) { gate_.leave(pass); };
  job.reads = [this](const FlushedChunk& chunk, auto& started, FlushGate::Pass& pass) {
    gate_.reads(pass);
    std::lock_guard guard(lock_);
    core_.flush_chunk_reads(chunk, started, true);
  };
  job.stores = [this](const FlushedChunk& chunk, auto& started, FlushGate::Pass& pass, const auto& failed) {
    {
      std::lock_guard guard(lock_);
      core_.flush_chunk_reads(chunk, started, false);
    }
    gate_.stores(pass, failed);
  };
  if (options_.max_bytes_per_s != 0)
    job.pace = [this](std::uint64_t begun_ns, std::uint64_t bytes) { pace(begun_ns, bytes); };
  job.wake = [this] { wake_all(); };
  job.cancelled = &stopping_;
  job.stored = [this, id](std::uint32_t segment) {
    std::lock_guard guard(lock_);
    return core_.segment_stored(id, segment);
  };
  return job;
}

// `busy`: this thread does something other than to wait for ranks.
FlushOutcome Flusher::attempt(const segment::VersionId& id, bool early, bool& busy) {
  FlushOutcome outcome;
  FlushJob job;
  {
    std::unique_lock guard(lock_);
    auto view = core_.begin_attempt(id);
    if (!view) {
      outcome.status = base::fail(PERDURE_NOT_FOUND, id.text(), "it was given up");
      outcome.gone = true;
      return outcome;
    }
    const auto rates = core_.read_bytes_per_s();
    job = job_for(id, std::move(*view));
    job.read_bytes_per_s = rates;
  }
  // A new store is made; one that was there and is missing now is not: its file system may be unmounted, and come back
  // with all it held.
  if (early) job.turn = [this, id] { return await_turn(id); };
  if (!prepared_) outcome.status = store_.prepare();
  if (!outcome.status) return outcome;
  prepared_ = true;
  if (!job.version.committed) {
    job.news = [this, id, &busy, seen = std::size_t{0}](const std::atomic<bool>& failed) mutable {
      return await_news(id, seen, busy, failed);
    };
    std::lock_guard guard(lock_);
    outcome.status = core_.note_begun(id, job.version.segments);
  }
  return outcome.status ? flush(store_, slots_, job) : outcome;
}

CaptureNews Flusher::await_news(const segment::VersionId& id, std::size_t& seen, bool& busy,
                                const std::atomic<bool>& failed) {
  CaptureNews news;
  std::unique_lock guard(lock_);
  news_.wait(guard, [&] {
    news = core_.capture_news(id, seen);
    return stopping_ || failed || !news.written.empty() || news.state != CaptureNews::State::open;
  });
  if (stopping_) news.state = CaptureNews::State::over;
  if (news.state == CaptureNews::State::committed) works(busy);
  return news;
}

base::Status Flusher::await_turn(const segment::VersionId& id) {
  std::unique_lock guard(lock_);
  news_.wait(guard, [&] { return stopping_ || core_.find(id) == nullptr || core_.may_be_published(id); });
  if (!stopping_ && core_.find(id) != nullptr) return {};
  return base::fail(PERDURE_UNAVAILABLE, id.text(), "the engine is stopping, or it was given up", "", true);
}

// What cannot be removed now is tried again with the next flush.
void Flusher::clean_leftovers() {
  for (;;) {
    std::optional<catalog::BegunRecord> left;
    {
      std::lock_guard guard(lock_);
      left = core_.next_leftover();
    }
    if (!left) return;
    for (const auto& segment : left->segments)
      if (!store_.discard(left->id, segment.index, segment.count)) return;
    std::lock_guard guard(lock_);
    if (!core_.note_begun(left->id, {})) return;
  }
}

Flusher::Next Flusher::finish(const segment::VersionId& id, const FlushOutcome& outcome, double seconds, bool& busy) {
  struct Tell {  // those that wait for their turn
    std::condition_variable& news;
    ~Tell() { news.notify_all(); }
  } tell{news_};
  if (outcome.gone) {
    {
      std::lock_guard guard(lock_);
      core_.flush_interrupted(id);
    }
    changed_(id, false);
    return Next::done;
  }
  if (outcome.status) {
    succeeded(id, outcome, seconds);
    return Next::done;
  }
  if (outcome.damaged) {
    chunk_damaged(id, outcome);
    return Next::given_up;
  }
  const auto delay = store_failed(id, outcome.status.error());
  if (!delay) return Next::given_up;
  wait_before_retry(*delay, busy);
  return Next::again;
}

void Flusher::succeeded(const segment::VersionId& id, const FlushOutcome& outcome, double seconds) {
  {
    std::lock_guard guard(episode_);
    if (failures_ > 0)
      reports_.add("store " + store_.properties().location + ": works again; " + id.text() + " is stored");
    failures_ = 0;
    told_.clear();
    told_given_up_ = false;
  }
  {
    std::lock_guard guard(lock_);
    core_.flush_succeeded(id, outcome.bytes, seconds);
    if (auto status = core_.forget_old(id.name, options_.keep_in_tiers); !status) reports_.add(status.error().text());
    if (auto status = core_.compact(); !status) reports_.add("catalog: " + status.error().text());
  }
  changed_(id, true);
}

void Flusher::chunk_damaged(const segment::VersionId& id, const FlushOutcome& outcome) {
  const base::Error& error = outcome.status.error();
  {
    std::lock_guard guard(lock_);
    if (core_.flush_read_damage({id, outcome.rank, outcome.chunk, error.cause}, outcome.read, error))
      reports_.add("flush of " + id.text() + " was given up: " + error.text());
  }
  changed_(id, false);
}

// After how long to try again; nothing: never.
std::optional<std::uint64_t> Flusher::store_failed(const segment::VersionId& id, const base::Error& error) {
  const std::uint64_t now = os::monotonic_ns();
  std::optional<std::uint64_t> delay;
  {
    std::lock_guard guard(episode_);
    if (failures_++ == 0) failing_since_ns_ = now;
    if (worth_retrying(error)) delay = plan::next_delay_ns(options_.backoff, failures_, now - failing_since_ns_);
    report(id, error, delay.has_value());
  }
  {
    std::lock_guard guard(lock_);
    core_.flush_failed(id, error, !delay);
  }
  changed_(id, false);
  return delay;
}

// Each kind of error once from the first failure until the store works again, and once that trying was given up.
void Flusher::report(const segment::VersionId& id, const base::Error& error, bool retried) {
  const bool news = told_.insert(error.code).second;
  base::Error told = error;
  if (told.remedy.empty()) told.remedy = "check the store (option store.path) and the file system it is on";
  if (retried && news)
    reports_.add("flush of " + id.text() +
                 " failed and is being retried; until then it stays on this node: " + told.text());
  if (retried || (!news && told_given_up_)) return;
  told_given_up_ = true;
  const std::string what =
      "flush of " + id.text() + " was given up; it stays on this node and is tried again after the next checkpoint";
  reports_.add(news ? what + ": " + told.text() : what);
}

void Flusher::wait_before_retry(std::uint64_t delay_ns, bool& busy) {
  rests(busy);
  std::unique_lock guard(lock_);
  wake_.wait_for(guard, std::chrono::nanoseconds(delay_ns), [this] { return stopping_.load(); });
}

}  // namespace perdure::engine
