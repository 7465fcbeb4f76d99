#include "engine/flush/flusher.hpp"

#include "os/system.hpp"

namespace perdure::engine {
namespace {

// On the way to the store a missing directory is an unmounted or vanished store: it can come back.
bool worth_retrying(const base::Error& error) { return error.retryable || error.code == PERDURE_NOT_FOUND; }

}  // namespace

Flusher::Flusher(Ledger& ledger, store::Store& store, Reports& reports, FlusherOptions options,
                 std::function<void(const segment::VersionId&, bool)> changed, std::function<void()> idle)
    : ledger_(ledger),
      store_(store),
      reports_(reports),
      options_(options),
      changed_(std::move(changed)),
      idle_(std::move(idle)),
      gate_(ledger, options.threads,
            [this](NodeState& state) {
              const bool limited = options_.max_slowdown > 0;
              return FlushGate::View{
                  limited ? state.observed().interference.pressure(options_.max_slowdown) : placement::Pressure{},
                  state.captures.slots_wanted()};
            }),
      pacing_(options.max_bytes_per_s) {
  thread_ = std::thread([this] { run(); });
}

void Flusher::notify() {
  {
    const auto ledger = ledger_.lock();
    work_ = true;
  }
  wake_.notify_all();
}

void Flusher::reevaluate_captures() {
  {
    const auto threads = early_.lock();
    std::erase_if(*threads, [](Early& early) {
      if (early.over) early.thread.join();
      return early.over.load();
    });
    const auto ledger = ledger_.lock();
    while (const auto id = stopping_ ? std::nullopt : ledger->captures.next_write_through()) {
      Early& early = threads->emplace_back();
      early.thread = std::thread([this, id, &early] { run_write_through(*id, early); });
    }
  }
  news_.notify_all();
}

void Flusher::stop() {
  {
    auto ledger = ledger_.lock();
    stopping_ = true;
    gate_.shut(ledger);
  }
  wake_.notify_all();
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::list<Early> early;  // nothing more is added
  {
    const auto threads = early_.lock();
    early.swap(*threads);
  }
  for (Early& one : early)
    if (one.thread.joinable()) one.thread.join();
}

void Flusher::somebody_waits(bool waits) {
  auto ledger = ledger_.lock();
  gate_.somebody_waits(ledger, waits);
}

void Flusher::look_at_application() {
  auto ledger = ledger_.lock();
  gate_.look_again(ledger);
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
    auto ledger = ledger_.lock();  // so that nobody is between looking and waiting
    gate_.look_again(ledger);
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
      auto ledger = ledger_.lock();
      ledger.wait(wake_, [this] { return work_ || stopping_; });
      if (stopping_) return;
      id = ledger->flushes.next();
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

void Flusher::run_write_through(const segment::VersionId& id, Early& self) {
  const auto error = flush_write_through(id);
  {
    const auto ledger = ledger_.lock();
    ledger->captures.write_through_over(id, error);
  }
  if (!stopping_) {
    changed_(id, false);  // who waits for a slot of it is told why there is none
    notify();             // to remove what it left, or to try again later
  }
  self.over = true;
}

// The error that it was given up for; nothing when it is stored, or nobody wants it any more.
std::optional<base::Error> Flusher::flush_write_through(const segment::VersionId& id) {
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

FlushJob Flusher::job_for(NodeState& state, const segment::VersionId& id, catalog::HeldVersion version) {
  FlushJob job;
  job.version = std::move(version);
  job.address = [this](const segment::ChunkEntry& chunk) {
    const auto ledger = ledger_.lock();
    return ledger->address(chunk);
  };
  std::vector<device::Emulator*> devices;
  std::vector<bool> slow;
  for (const auto& tier : state.tiers()) {
    devices.push_back(tier->device());
    slow.push_back(!tier->properties().mapped || tier->device() != nullptr);
  }
  job.device = [devices](std::uint32_t tier) { return devices[tier]; };
  job.slow = [slow](std::uint32_t tier) { return slow[tier]; };
  job.chunk_begins = [this, id](const FlushedChunk& chunk) {
    const auto ledger = ledger_.lock();
    return ledger->flushes.chunk_begins(id, chunk);
  };
  job.chunk_ended = [this, id](const FlushedChunk& chunk, const auto& started, bool stored) {
    bool wanted = false;
    {
      auto ledger = ledger_.lock();
      const auto observed = ledger->flushes.chunk_ended(id, chunk, started, stored, options_.room != nullptr);
      if (observed) gate_.observe(ledger, *observed);
      wanted = stored && ledger->captures.slots_wanted();
    }
    if (wanted && options_.room) options_.room();
  };
  job.slots_wanted = [this] {
    const auto ledger = ledger_.lock();
    return ledger->captures.slots_wanted();
  };
  job.over = [this, id] {
    const auto ledger = ledger_.lock();
    return ledger->flushes.attempt_over(id);
  };
  job.threads = options_.threads;
  job.enter = [this](bool reading, const std::atomic<bool>& failed) { return gate_.enter(reading, failed); };
  job.leave = [this](const FlushGate::Pass& pass) { gate_.leave(pass); };
  job.reads = [this](const FlushedChunk& chunk, auto& started, FlushGate::Pass& pass) {
    gate_.reads(pass);
    const auto ledger = ledger_.lock();
    ledger->flushes.chunk_reads(chunk, started, true);
  };
  job.stores = [this](const FlushedChunk& chunk, auto& started, FlushGate::Pass& pass, const auto& failed) {
    {
      const auto ledger = ledger_.lock();
      ledger->flushes.chunk_reads(chunk, started, false);
    }
    gate_.stores(pass, failed);
  };
  if (options_.max_bytes_per_s != 0)
    job.pace = [this](std::uint64_t begun_ns, std::uint64_t bytes) { pace(begun_ns, bytes); };
  job.wake = [this] { wake_all(); };
  job.cancelled = &stopping_;
  job.stored = [this, id](std::uint32_t segment) {
    const auto ledger = ledger_.lock();
    return ledger->flushes.segment_stored(id, segment);
  };
  return job;
}

// `busy`: this thread does something other than to wait for ranks.
FlushOutcome Flusher::attempt(const segment::VersionId& id, bool early, bool& busy) {
  FlushOutcome outcome;
  FlushJob job;
  {
    const auto ledger = ledger_.lock();
    auto view = ledger->flushes.begin_attempt(id);
    if (!view) {
      outcome.status = base::fail(PERDURE_NOT_FOUND, id.text(), "it was given up");
      outcome.gone = true;
      return outcome;
    }
    const auto rates = ledger->outlook.read_bytes_per_s();
    job = job_for(*ledger, id, std::move(*view));
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
    const auto ledger = ledger_.lock();
    outcome.status = ledger->flushes.note_begun(id, job.version.segments);
  }
  return outcome.status ? flush(store_, slots_, job) : outcome;
}

CaptureNews Flusher::await_news(const segment::VersionId& id, std::size_t& seen, bool& busy,
                                const std::atomic<bool>& failed) {
  CaptureNews news;
  auto ledger = ledger_.lock();
  ledger.wait(news_, [&] {
    news = ledger->captures.news(id, seen);
    return stopping_ || failed || !news.written.empty() || news.state != CaptureNews::State::open;
  });
  if (stopping_) news.state = CaptureNews::State::over;
  if (news.state == CaptureNews::State::committed) works(busy);
  return news;
}

base::Status Flusher::await_turn(const segment::VersionId& id) {
  auto ledger = ledger_.lock();
  ledger.wait(news_, [&] { return stopping_ || ledger->find(id) == nullptr || ledger->flushes.may_be_published(id); });
  if (!stopping_ && ledger->find(id) != nullptr) return {};
  return base::fail(PERDURE_UNAVAILABLE, id.text(), "the engine is stopping, or it was given up", "", true);
}

// What cannot be removed now is tried again with the next flush.
void Flusher::clean_leftovers() {
  for (;;) {
    std::optional<catalog::BegunRecord> left;
    {
      const auto ledger = ledger_.lock();
      left = ledger->flushes.next_leftover();
    }
    if (!left) return;
    for (const auto& segment : left->segments)
      if (!store_.discard(left->id, segment.index, segment.count)) return;
    const auto ledger = ledger_.lock();
    if (!ledger->flushes.note_begun(left->id, {})) return;
  }
}

Flusher::Next Flusher::finish(const segment::VersionId& id, const FlushOutcome& outcome, double seconds, bool& busy) {
  struct Tell {  // those that wait for their turn
    std::condition_variable& news;
    ~Tell() { news.notify_all(); }
  } tell{news_};
  if (outcome.gone) {
    {
      const auto ledger = ledger_.lock();
      ledger->flushes.interrupted(id);
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
    const auto ledger = ledger_.lock();
    ledger->flushes.succeeded(id, outcome.bytes, seconds);
    if (auto status = ledger->flushes.forget_old(id.name, options_.keep_in_tiers); !status)
      reports_.add(status.error().text());
  }
  if (auto status = compact_catalog(ledger_); !status) reports_.add("catalog: " + status.error().text());
  changed_(id, true);
}

void Flusher::chunk_damaged(const segment::VersionId& id, const FlushOutcome& outcome) {
  const base::Error& error = outcome.status.error();
  {
    const auto ledger = ledger_.lock();
    if (ledger->flushes.read_damage({id, outcome.rank, outcome.chunk, error.cause}, outcome.read, error))
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
    const auto ledger = ledger_.lock();
    ledger->flushes.failed(id, error, !delay);
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
  auto ledger = ledger_.lock();
  ledger.wait_for(wake_, std::chrono::nanoseconds(delay_ns), [this] { return stopping_.load(); });
}

}  // namespace perdure::engine
