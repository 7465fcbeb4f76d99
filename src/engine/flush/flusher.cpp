#include "engine/flush/flusher.hpp"

#include "engine/ledger/on_their_way.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

double seconds_since(std::uint64_t begin_ns) { return static_cast<double>(os::monotonic_ns() - begin_ns) * 1e-9; }

}  // namespace

Flusher::Flusher(Ledger& ledger, store::Store& store, Reports& reports, FlusherOptions options,
                 std::function<void(const segment::VersionId&, bool)> changed, std::function<void()> idle)
    : context_(ledger, std::move(options)),
      store_(store),
      reports_(reports),
      changed_(std::move(changed)),
      episode_(context_.options.backoff),
      activity_(std::move(idle)),
      pool_(2 * std::size_t{context_.options.threads}),  // half of them read slow tiers
      workers_(context_, activity_, *this) {
  started_ = workers_.start();
}

void Flusher::thread_failed(const base::Error& why) { reports_.add("a thread of the flusher failed: " + why.text()); }

void Flusher::reevaluate_captures() { workers_.reevaluate_captures(); }

void Flusher::stop() {
  {
    const auto ledger = context_.ledger.lock();
    context_.stopping = true;
  }
  {
    const auto pacing = context_.pacing.lock();  // so that no thread is between its check and its wait
  }
  context_.stopped.notify_all();
  context_.gate.shut();
  context_.news.notify_all();
  workers_.stop();
  pool_.stop();
}

void Flusher::let_all_flush() {
  {
    const auto ledger = context_.ledger.lock();
    ledger->flushes.let_flush(std::nullopt);
  }
  workers_.notify();
}

void Flusher::look_at_application() {
  {
    const auto ledger = context_.ledger.lock();
    context_.show(*ledger);
  }
  context_.gate.look_again();
}

void Flusher::flush_committed(const segment::VersionId& id, FlushActivity::Part& part) {
  const std::uint64_t begin = os::monotonic_ns();
  const FlushOutcome outcome = attempt(id, part);
  if (context_.stopping) return;
  Ended ended;
  const base::Status finished = base::caught(id, [&]() -> base::Status {
    ended = finish(id, outcome, seconds_since(begin));
    return {};
  });
  if (!finished) return unfinished(id, finished.error());
  if (ended.next != Next::again) return;
  part.rests();
  workers_.pause(ended.delay_ns);
}

// The attempt has ended, but its outcome could not be recorded. It is retried, and the retry finds the segments that
// are at the store by then.
void Flusher::unfinished(const segment::VersionId& id, const base::Error& why) {
  {
    const auto ledger = context_.ledger.lock();
    ledger->flushes.interrupted(id);
  }
  thread_failed(why);
  workers_.notify();
}

std::optional<CaptureEnd> Flusher::advance_capture(CaptureFlush& capture) {
  FlushOutcome outcome;
  bool over = false;
  base::Status tried = base::caught(capture.id, [&]() -> base::Status {
    over = attempt(capture, outcome);
    return {};
  });
  const bool ran = tried.has_value();
  if (!ran) outcome.status = base::fail(std::move(tried).error());
  if (ran && !over) return std::nullopt;
  capture.part.works();
  capture.flush.reset();
  capture.source.reset();
  if (!ran) {
    const auto ledger = context_.ledger.lock();
    (void)ledger->flushes.attempt_over(capture.id);  // its segments may be begun again
  }
  const bool for_the_queue = outcome.status.has_value() && outcome.bytes == 0;
  Ended ended;
  if (for_the_queue) {
    const auto ledger = context_.ledger.lock();
    ledger->flushes.interrupted(capture.id);
  } else if (!context_.stopping) {
    ended = finish(capture.id, outcome, seconds_since(capture.begun_ns));
  }
  capture.part.rests();
  capture.not_before_ns = os::monotonic_ns() + ended.delay_ns;
  if (ended.next == Next::again && !context_.stopping) return std::nullopt;
  if (ended.next == Next::given_up) return CaptureEnd{outcome.status.error()};
  return CaptureEnd{};
}

// True when the flush is over. If the version was committed before the flush could begin, it succeeds with no bytes.
bool Flusher::attempt(CaptureFlush& capture, FlushOutcome& outcome) {
  if (!capture.flush && !begin_attempt(capture, outcome)) return true;
  if (!capture.flush->advance()) return false;
  outcome = capture.flush->end();
  return true;
}

bool Flusher::begin_attempt(CaptureFlush& capture, FlushOutcome& outcome) {
  capture.begun_ns = os::monotonic_ns();
  capture.source = std::make_unique<LedgerSource>(context_, capture.id, true, capture.part);
  auto job = capture.source->job();
  if (!job) {
    outcome.status = base::fail(PERDURE_NOT_FOUND, capture.id.text(), "it was given up");
    outcome.gone = true;
    return false;
  }
  if (!job->open) return false;
  prepare(capture.id, *job, outcome);
  if (!outcome.status) return false;
  capture.flush = std::make_unique<WriteThrough>(store_, slots_, std::move(*job), *capture.source, pool_);
  return true;
}

FlushOutcome Flusher::attempt(const segment::VersionId& id, FlushActivity::Part& part) {
  FlushOutcome outcome;
  base::Status tried = base::caught(id, [&]() -> base::Status {
    LedgerSource source(context_, id, false, part);
    const auto job = source.job();
    if (!job) {
      outcome.status = base::fail(PERDURE_NOT_FOUND, id.text(), "it was given up");
      outcome.gone = true;
      return {};
    }
    prepare(id, *job, outcome);
    if (outcome.status) outcome = flush(store_, slots_, *job, source, pool_);
    return {};
  });
  if (tried) return outcome;
  outcome.status = base::fail(std::move(tried).error());
  const auto ledger = context_.ledger.lock();
  (void)ledger->flushes.attempt_over(id);  // its segments may be begun again
  return outcome;
}

// Makes a new store. A store that was there and is missing now is not made again. Its file system may be unmounted, and
// come back with all its content.
void Flusher::prepare(const segment::VersionId& id, const FlushJob& job, FlushOutcome& outcome) {
  if (!prepared_) outcome.status = store_.prepare();
  prepared_ = prepared_ || outcome.status;
  if (outcome.status) outcome.status = arrive(id, outcome.gone);
  if (!outcome.status || !job.open) return;
  const auto ledger = context_.ledger.lock();
  outcome.status = ledger->flushes.note_begun(id, job.version.segments);
}

// Notices that the store is another one than before. Older versions that have to be stored there again come first, so
// this flush begins again after them.
base::Status Flusher::arrive(const segment::VersionId& id, bool& moved) {
  auto incarnation = store_.incarnation(id.name, store::Missing::make);
  if (!incarnation && incarnation.error().code == PERDURE_NOT_FOUND)
    return base::fail(PERDURE_NOT_FOUND, store_.properties().location, "the store's directory is not there",
                      "bring the store's directory back (is its file system mounted?)", true);
  if (!incarnation) return base::fail(incarnation.error());
  {
    const auto ledger = context_.ledger.lock();
    PERDURE_TRY(moved, ledger->flushes.see_incarnation(id.name, *incarnation));
  }
  if (!moved) return own(id.name);
  const auto owners = owners_.lock();
  owners->owned.erase(id.name);
  return base::fail(PERDURE_UNAVAILABLE, id.text(), "the store was removed, and is there anew", "", true);
}

// A version captured while the store was unreachable belongs to the launch that captured it, even if that launch has
// ended.
base::Status Flusher::own(const std::string& name) {
  if (!context_.options.owner) return {};
  {
    const auto owners = owners_.lock();
    if (owners->owned.contains(name)) return {};
  }
  if (const auto readable = store_.owner(name); !readable && readable.error().code == PERDURE_CORRUPT)
    PERDURE_CHECK(replace_damaged(name, readable.error()));
  PERDURE_TRY(auto owner, store_.owner(name));
  if (!owner) {
    const auto taken = store_.set_owner(name, std::nullopt, *context_.options.owner);
    if (!taken && taken.error().code != PERDURE_EXISTS) return taken;
    PERDURE_TRY(owner, store_.owner(name));
  }
  if (owner && owner->job != context_.options.owner->job)
    return base::fail(PERDURE_MISMATCH, "checkpoint " + name, "in this store it belongs to " + owner->text(),
                      "what job '" + context_.options.owner->job +
                          "' captured stays on this node; to give it up, end " +
                          "perdured here, then perdure prune --node --even-unstored");
  const auto owners = owners_.lock();
  owners->owned.insert(name);
  owners->damaged_since_ns.erase(name);
  return {};
}

// A live launch that owns the name rewrites its record within one lease. After that time this engine takes the name.
base::Status Flusher::replace_damaged(const std::string& name, const base::Error& damage) {
  const std::uint64_t now_ns = os::monotonic_ns();
  {
    const auto owners = owners_.lock();
    const std::uint64_t since_ns = owners->damaged_since_ns.insert({name, now_ns}).first->second;
    if (now_ns - since_ns < context_.options.owner->lease_ns)
      return base::fail(PERDURE_UNAVAILABLE, damage.object, damage.cause,
                        "its owner writes it again if that lives, else the engine does", true);
  }
  const auto taken = store_.set_owner(name, std::nullopt, *context_.options.owner);
  return taken || taken.error().code == PERDURE_EXISTS ? base::Status() : taken;
}

// Leftovers that cannot be removed now are retried with the next flush.
void Flusher::clean_leftovers() {
  for (;;) {
    std::optional<catalog::BegunRecord> left;
    {
      const auto ledger = context_.ledger.lock();
      left = ledger->flushes.next_leftover();
    }
    if (!left) return;
    for (const auto& segment : left->segments)
      if (!store_.discard(left->id, segment.index, segment.count)) return;
    const auto ledger = context_.ledger.lock();
    if (!ledger->flushes.note_begun(left->id, {})) return;
  }
}

Flusher::Ended Flusher::finish(const segment::VersionId& id, const FlushOutcome& outcome, double seconds) {
  struct Tell {  // wakes flushes that wait for their turn
    std::condition_variable& news;
    ~Tell() { news.notify_all(); }
  } tell{context_.news};
  if (outcome.gone) {
    {
      const auto ledger = context_.ledger.lock();
      ledger->flushes.interrupted(id);
    }
    changed_(id, false);
    return {Next::done};
  }
  if (outcome.status) {
    succeeded(id, outcome, seconds);
    return {Next::done};
  }
  if (outcome.damaged) {
    chunk_damaged(id, outcome);
    return {Next::given_up};
  }
  if (outcome.status.error().code == PERDURE_CLOSED && drop_forgotten(id)) return {Next::given_up};
  const auto delay_ns = store_failed(id, outcome.status.error(), seconds);
  if (!delay_ns) return {Next::given_up};
  return {Next::again, *delay_ns};
}

void Flusher::succeeded(const segment::VersionId& id, const FlushOutcome& outcome, double seconds) {
  {
    const auto episode = episode_.lock();
    if (const auto report = episode->stored(id, store_.properties().location)) reports_.add(*report);
  }
  {
    const auto ledger = context_.ledger.lock();
    ledger->flushes.succeeded(id, outcome.bytes, seconds);
    if (auto status = ledger->flushes.forget_old(id.name, context_.options.keep_in_tiers); !status)
      reports_.add(status.error().text());
    ledger->room.make_ahead(id);
  }
  drop_unreachable(id.name);
  if (auto status = compact_catalog(context_.ledger); !status) reports_.add("catalog: " + status.error().text());
  changed_(id, true);
}

// Drops an unreachable version only if a newer version is at the store as a whole, whichever nodes wrote it.
void Flusher::drop_unreachable(const std::string& name) {
  {
    const auto ledger = context_.ledger.lock();
    if (!any_unreachable(*ledger, name)) return;
  }
  const auto listings = store_.list(name);
  const auto forks = store::forks(store_, name);
  if (!listings || !forks) return;  // the next flush asks again
  segment::Attempt whole{};
  for (const auto& listing : *listings)
    if (listing.id.attempt > whole && listing.all_present() && store::read_version(store_, listing))
      whole = listing.id.attempt;
  const auto ledger = context_.ledger.lock();
  if (auto status = ledger->flushes.drop_unreachable(name, whole, *forks); !status) reports_.add(status.error().text());
}

// True if the version was forgotten on purpose: nobody restores it any more, and no later attempt would store it. While
// somebody reads it, its flush fails for good, and gets another chance with the next commit.
bool Flusher::drop_forgotten(const segment::VersionId& id) {
  const auto forgotten_ns = store_.forgotten(id.name);
  if (!forgotten_ns || id.attempt.created_ns > *forgotten_ns) return false;
  const auto may_go = [&](const NodeState& state) {
    const auto* held = state.find(id);
    const Version* version = state.version(id);
    return held != nullptr && held->committed && version != nullptr && version->pinned_by.empty();
  };
  {
    const auto ledger = context_.ledger.lock();
    if (!may_go(*ledger)) return false;
  }
  if (context_.options.forgotten) context_.options.forgotten(id);
  {
    const auto ledger = context_.ledger.lock();
    if (!may_go(*ledger) || !ledger->redundancy.drop(id) || !ledger->held.drop(id)) return false;
  }
  reports_.add(id.text() + ": it was forgotten on purpose (perdure forget); what this node had of it was given up");
  changed_(id, false);
  return true;
}

void Flusher::chunk_damaged(const segment::VersionId& id, const FlushOutcome& outcome) {
  const base::Error& error = outcome.status.error();
  {
    const auto ledger = context_.ledger.lock();
    if (ledger->flushes.read_damage({id, outcome.rank, outcome.chunk, error.cause}, outcome.read, error))
      reports_.add("flush of " + id.text() + " was given up: " + error.text());
  }
  changed_(id, false);
}

// Returns the delay until the next attempt; nullopt if there is none.
std::optional<std::uint64_t> Flusher::store_failed(const segment::VersionId& id, const base::Error& error,
                                                   double seconds) {
  StoreEpisode::Answer answer;
  {
    const auto episode = episode_.lock();
    answer = episode->failed(id, error, os::monotonic_ns(), static_cast<std::uint64_t>(seconds * 1e9));
    if (answer.report) reports_.add(*answer.report);
  }
  {
    const auto ledger = context_.ledger.lock();
    ledger->flushes.failed(id, error, !answer.retry_after_ns);
  }
  changed_(id, false);
  return answer.retry_after_ns;
}

}  // namespace perdure::engine
