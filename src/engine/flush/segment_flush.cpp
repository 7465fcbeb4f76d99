#include "engine/flush/segment_flush.hpp"

#include <algorithm>
#include <utility>

#include "engine/flush/chunk_writer.hpp"
#include "engine/flush/flush_sequence.hpp"
#include "engine/flush/open_segments.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

// Copies the chunks of open segments to their places, with the pool's threads. Its owner adds chunks that ranks write
// meanwhile.
class ChunkFlush : public ChunkWork {
 public:
  ChunkFlush(const FlushJob& job, FlushSource& source, tier::SlotIo& slots, OpenSegments& segments, ChunkPool& pool,
             FlushOutcome& outcome)
      : job_(job),
        source_(source),
        items_(segments.items()),
        outcome_(outcome),
        writer_(job.version.id, source, slots, segments, failed_),
        pool_(pool),
        sequence_(job.read_bytes_per_s, job.threads) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      numbers_[{items_[i].rank, items_[i].chunk}] = i;
      if (items_[i].source.place != kNotWritten) make_ready(i);
    }
  }
  ~ChunkFlush() override { pool_.remove(*this); }

  void start() {
    pool_.add(*this);
    ask_for_threads();
  }
  /// Returns when every chunk is in its place, or something failed.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return settled(); });
  }
  /// No thread works on it afterwards, so the outcome may be read.
  void end() {
    pool_.remove(*this);
    if (!settled())
      outcome_.status = base::fail(
          PERDURE_INTERNAL, job_.version.id.text(),
          "only " + std::to_string(done_) + " of " + std::to_string(items_.size()) + " chunks came to be flushed");
  }
  bool settled() const { return failed_ || done_ == items_.size(); }
  bool failed() const { return failed_; }
  bool unplaced() const { return unplaced_ > 0; }
  /// Called from threads other than the pool's.
  void give_up(const base::Error& why, bool gone) {
    {
      const std::lock_guard lock(mutex_);
      note_failure(why, gone);
    }
    source_.wake();
  }
  /// Takes news of the capture.
  CaptureNews::State take(const CaptureNews& news) {
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < news.written.size(); ++i) {
        const auto number = numbers_.find(news.written[i]);
        if (number == numbers_.end() || items_[number->second].source.place != kNotWritten) continue;
        items_[number->second].source = news.chunks[i];
        make_ready(number->second);
      }
    }
    if (news.state == CaptureNews::State::over)
      give_up({PERDURE_PEER_FAILED, job_.version.id.text(), "it was given up", "", true}, true);
    else
      ask_for_threads();
    return news.state;
  }

  // ---- for the pool
  std::size_t room(std::size_t inside) const override {
    const std::lock_guard lock(mutex_);
    return room_beside(inside);
  }
  bool enter(std::size_t inside) override {
    const std::lock_guard lock(mutex_);
    if (room_beside(inside) == 0) return false;
    ++choosing_;
    return true;
  }
  void flush_chunk(std::vector<std::byte>& buffer) override {
    std::optional<std::size_t> item;
    ChunkFlight flight = source_.begin(may_be_slow(), failed_, [this, &item](bool slots_wanted) {
      item = choose(slots_wanted);
      return item ? std::optional(chunk_of(items_[*item])) : std::nullopt;
    });
    if (!item) {
      source_.end(flight, false);
      const std::lock_guard lock(mutex_);
      --choosing_;
      return;
    }
    WriteOutcome written;
    base::Status tried = base::caught(job_.version.id, [&]() -> base::Status {
      written = writer_.write(items_[*item], buffer, flight, [this, item](bool reading) {
        std::lock_guard lock(mutex_);
        sequence_.reads(*item, reading);
      });
      return {};
    });
    if (!tried) written = {base::fail(std::move(tried).error())};
    source_.end(flight, written.status.has_value());
    note(*item, written);
  }
  void fail(const base::Error& why) override { give_up(why, false); }

 private:
  void ask_for_threads() {
    if (auto asked = pool_.more(); !asked) give_up(asked.error(), false);
  }

  // The gate, which lets chunks begin, enforces the limit of threads that write to the store.
  std::size_t room_beside(std::size_t inside) const {
    const std::size_t most = (ready_slow_ > 0 ? 2 : 1) * std::size_t{job_.threads};
    if (failed_ || inside >= most || choosing_ >= sequence_.size()) return 0;
    return std::min(most - inside, sequence_.size() - choosing_);
  }

  void make_ready(std::size_t item) {
    sequence_.add(item, items_[item].source.place);
    ++unplaced_;
    if (slow(item)) ++ready_slow_;
  }

  bool slow(std::size_t item) const {
    const std::uint32_t place = items_[item].source.place;
    return place < job_.slow.size() && job_.slow[place];
  }

  bool may_be_slow() const {
    const std::lock_guard lock(mutex_);
    return ready_slow_ > 0;
  }

  static FlushedChunk chunk_of(const FlushItem& item) {
    return {{item.rank, item.chunk}, {item.source.place, item.source.offset}, item.target, item.source.length};
  }

  /// nullopt when other threads took the last. Called with the ledger held.
  std::optional<std::size_t> choose(bool slots_wanted) {
    std::lock_guard lock(mutex_);
    if (failed_ || sequence_.size() == 0) return std::nullopt;
    const auto item = sequence_.next(slots_wanted);
    if (!item) return std::nullopt;
    --choosing_;
    if (slow(*item)) --ready_slow_;
    return item;
  }

  void note(std::size_t item, const WriteOutcome& written) {
    bool tell = !written.status;
    {
      std::lock_guard lock(mutex_);
      sequence_.reads(item, false);
      if (written.status) {
        ++done_;
        tell = --unplaced_ == 0 && job_.open;
        if (settled()) changed_.notify_all();
      } else {
        note_damage(items_[item], written);
        note_failure(written.status.error(), written.gone);
      }
    }
    if (tell) source_.wake();
  }

  void note_damage(const FlushItem& item, const WriteOutcome& written) {
    if (!written.damaged || outcome_.damaged) return;
    outcome_.damaged = true;
    outcome_.rank = item.rank;
    outcome_.chunk = item.chunk;
    outcome_.read = item.source;
  }

  /// Called with the mutex held. Afterwards, without the mutex, wake the threads that wait at the source.
  void note_failure(const base::Error& error, bool gone) {
    if (!failed_) {
      outcome_.status = base::fail(error);
      outcome_.gone = gone;
    }
    failed_ = true;
    changed_.notify_all();
  }

  const FlushJob& job_;
  FlushSource& source_;
  std::vector<FlushItem>& items_;
  FlushOutcome& outcome_;
  ChunkWriter writer_;
  ChunkPool& pool_;
  std::map<ChunkName, std::size_t> numbers_;
  // Guards all that follows, the outcome, and the source of items that are not ready. It is taken after the ledger and
  // after the pool's lock.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  FlushSequence sequence_;
  std::size_t ready_slow_ = 0;             // chunks that take time to be read and that no thread has begun
  std::size_t choosing_ = 0;               // threads that have not chosen their chunk
  std::atomic<std::size_t> done_ = 0;      // chunks in their place
  std::atomic<std::size_t> unplaced_ = 0;  // chunks that are written but not in their place
  std::atomic<bool> failed_ = false;
};

base::Error given_up(const segment::VersionId& id) {
  return {PERDURE_UNAVAILABLE, id.text(), "the engine is stopping, or it was given up", "", true};
}

void publish_segments(OpenSegments& open, FlushSource& source, FlushOutcome& outcome) {
  outcome.status = open.publish(outcome.bytes, [&source](std::uint32_t segment) { return source.stored(segment); });
}

void flush_segment(store::Store& store, tier::SlotIo& slots, const FlushJob& job, FlushSource& source, ChunkPool& pool,
                   const catalog::LocalSegment& segment, FlushOutcome& outcome) {
  OpenSegments open(job.version, {segment});
  outcome.status = open.open(store);
  // From the first chunk on, unpublished segments are kept whatever fails, even the commit: a chunk's slot may have
  // been reused.
  open.keep(true);
  if (outcome.status) {
    ChunkFlush chunks(job, source, slots, open, pool, outcome);
    chunks.start();
    chunks.wait();
    chunks.end();
  }
  if (outcome.status && source.turn() != FlushSource::Turn::mine) {
    outcome.status = base::fail(given_up(job.version.id));
    outcome.gone = true;
  }
  if (outcome.status) publish_segments(open, source, outcome);
  open.keep(source.over());
}

std::vector<catalog::LocalSegment> not_stored(const catalog::HeldVersion& version) {
  std::vector<catalog::LocalSegment> left;
  for (const auto& segment : version.segments)
    if (!segment.stored) left.push_back(segment);
  return left;
}

}  // namespace

// Flushes one segment after the other, so that each is published as early as possible.
FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job, FlushSource& source,
                   ChunkPool& pool) {
  FlushOutcome outcome;
  os::crash_point(os::CrashPoint::flush_begin);
  for (const auto& segment : not_stored(job.version)) {
    flush_segment(store, slots, job, source, pool, segment, outcome);
    if (!outcome.status) break;
  }
  return outcome;
}

// Chunks of an open capture come in any order, so all its segments must be open.
struct WriteThrough::Parts {
  Parts(store::Store& in, tier::SlotIo& slots, FlushJob wanted, FlushSource& around, ChunkPool& pool)
      : store(in),
        job(std::move(wanted)),
        source(around),
        open(job.version, not_stored(job.version)),
        chunks(job, around, slots, open, pool, outcome) {}
  store::Store& store;
  const FlushJob job;
  FlushSource& source;
  FlushOutcome outcome;
  OpenSegments open;
  ChunkFlush chunks;
  enum class Stage { none, opening, open, committed } stage = Stage::none;
  bool ended = false;
};

WriteThrough::WriteThrough(store::Store& store, tier::SlotIo& slots, FlushJob job, FlushSource& source, ChunkPool& pool)
    : parts_(std::make_unique<Parts>(store, slots, std::move(job), source, pool)) {}

WriteThrough::~WriteThrough() {
  (void)base::caught("flush", [this]() -> base::Status {
    (void)end();
    return {};
  });
}

bool WriteThrough::settled() const { return parts_->chunks.settled(); }
bool WriteThrough::failed() const { return parts_->chunks.failed(); }
bool WriteThrough::unplaced() const { return parts_->chunks.unplaced(); }

bool WriteThrough::advance() {
  Parts& p = *parts_;
  if (p.stage == Parts::Stage::none) {
    p.stage = Parts::Stage::opening;
    os::crash_point(os::CrashPoint::flush_begin);
    p.outcome.status = p.open.open(p.store);
    p.open.keep(true);  // as for a committed version
    if (!p.outcome.status) return true;
    p.stage = Parts::Stage::open;
    p.chunks.start();
  }
  if (p.stage == Parts::Stage::open && !p.chunks.failed() &&
      p.chunks.take(p.source.news()) == CaptureNews::State::committed)
    p.stage = Parts::Stage::committed;
  if (p.chunks.failed()) return true;
  return p.stage == Parts::Stage::committed && publish();
}

bool WriteThrough::publish() {
  Parts& p = *parts_;
  const auto turn = p.source.turn();
  if (turn == FlushSource::Turn::gone) {
    p.chunks.give_up(given_up(p.job.version.id), true);
    return true;
  }
  if (turn == FlushSource::Turn::wait || !p.chunks.settled()) return false;
  p.chunks.end();
  if (p.outcome.status) publish_segments(p.open, p.source, p.outcome);
  return true;
}

FlushOutcome WriteThrough::end() {
  Parts& p = *parts_;
  if (std::exchange(p.ended, true)) return p.outcome;
  const bool started = p.stage >= Parts::Stage::open;
  if (started && !p.chunks.settled()) p.chunks.give_up(given_up(p.job.version.id), true);
  if (started) p.chunks.end();
  p.open.keep(p.source.over());
  return p.outcome;
}

}  // namespace perdure::engine
