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
      idle_(std::move(idle)) {
  thread_ = std::thread([this] { run(); });
}

void Flusher::notify() {
  {
    std::lock_guard guard(lock_);
    work_ = true;
  }
  wake_.notify_all();
}

void Flusher::stop() {
  {
    std::lock_guard guard(lock_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Flusher::run() {
  for (;;) {
    std::optional<segment::VersionId> id;
    {
      std::unique_lock guard(lock_);
      wake_.wait(guard, [this] { return work_ || stopping_; });
      if (stopping_) return;
      id = core_.next_flush();
      work_ = id.has_value();
      busy_ = busy_ || work_;
    }
    if (id)
      flush_one(*id);
    else if (busy_.exchange(false))
      idle_();
  }
}

FlushOutcome Flusher::attempt(const segment::VersionId& id) {
  FlushJob job;
  {
    std::lock_guard guard(lock_);
    const catalog::HeldVersion* held = core_.find(id);
    if (held == nullptr) return {};
    job.version = *held;
    job.read_bytes_per_s = core_.read_bytes_per_s();
  }
  job.address = [this](const segment::ChunkEntry& chunk) {
    std::lock_guard guard(lock_);
    return core_.address(chunk);
  };
  job.device = [this](std::uint32_t tier) { return core_.tiers()[tier]->device(); };
  job.chunk_begins = [this](std::uint32_t tier) {
    std::lock_guard guard(lock_);
    return core_.flush_chunk_begins(tier);
  };
  job.chunk_ended = [this, &id](std::uint32_t tier, const auto& started, std::uint64_t bytes, bool stored) {
    std::lock_guard guard(lock_);
    core_.flush_chunk_ended(id, tier, started, bytes, stored);
  };
  job.threads = options_.threads;
  job.max_bytes_per_s = options_.max_bytes_per_s;
  job.cancelled = &stopping_;
  job.stored = [this, &id](std::uint32_t segment) {
    std::lock_guard guard(lock_);
    return core_.segment_stored(id, segment);
  };
  // A new store is made; one that was there and is missing now is not: its file system may be unmounted, and come back
  // with all it held.
  FlushOutcome outcome;
  if (!prepared_) outcome.status = store_.prepare();
  if (!outcome.status) return outcome;
  prepared_ = true;
  return flush(store_, slots_, job);
}

void Flusher::flush_one(const segment::VersionId& id) {
  const std::uint64_t begin = os::monotonic_ns();
  const FlushOutcome outcome = attempt(id);
  if (!stopping_) finish(id, outcome, static_cast<double>(os::monotonic_ns() - begin) * 1e-9);
}

void Flusher::finish(const segment::VersionId& id, const FlushOutcome& outcome, double seconds) {
  if (outcome.status) return succeeded(id, outcome, seconds);
  if (outcome.damaged) return chunk_damaged(id, outcome);
  store_failed(id, outcome.status.error());
}

void Flusher::succeeded(const segment::VersionId& id, const FlushOutcome& outcome, double seconds) {
  if (failures_ > 0)
    reports_.add("store " + store_.properties().location + ": works again; " + id.text() + " is stored");
  failures_ = 0;
  told_.clear();
  told_given_up_ = false;
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
  reports_.add("flush of " + id.text() + " was given up: " + error.text());
  {
    std::lock_guard guard(lock_);
    (void)core_.quarantine({id, outcome.rank, outcome.chunk, error.cause});
    core_.flush_failed(id, error, true);
  }
  changed_(id, false);
}

void Flusher::store_failed(const segment::VersionId& id, const base::Error& error) {
  const std::uint64_t now = os::monotonic_ns();
  if (failures_++ == 0) failing_since_ns_ = now;
  std::optional<std::uint64_t> delay;
  if (worth_retrying(error)) delay = plan::next_delay_ns(options_.backoff, failures_, now - failing_since_ns_);
  report(id, error, delay.has_value());
  {
    std::lock_guard guard(lock_);
    core_.flush_failed(id, error, !delay);
  }
  changed_(id, false);
  if (delay) wait_before_retry(*delay);
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

void Flusher::wait_before_retry(std::uint64_t delay_ns) {
  if (busy_.exchange(false)) idle_();
  std::unique_lock guard(lock_);
  wake_.wait_for(guard, std::chrono::nanoseconds(delay_ns), [this] { return stopping_.load(); });
}

}  // namespace perdure::engine
