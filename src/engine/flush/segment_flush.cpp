#include "engine/flush/segment_flush.hpp"

#include <algorithm>

#include "engine/flush/chunk_writer.hpp"
#include "engine/flush/flush_sequence.hpp"
#include "engine/flush/open_segments.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "os/thread.hpp"

namespace perdure::engine {
namespace {

// Brings the chunks of open segments to their places. The thread that made it sees to it that others work: it waits for
// news and starts threads while there is more to do than those that are there can begin with.
class ChunkFlush {
 public:
  ChunkFlush(const FlushJob& job, FlushSource& source, tier::SlotIo& slots, OpenSegments& segments,
             FlushOutcome& outcome)
      : job_(job),
        source_(source),
        items_(segments.items()),
        outcome_(outcome),
        writer_(job.version.id, source, slots, segments, failed_),
        sequence_(job.read_bytes_per_s, job.threads) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      numbers_[{items_[i].rank, items_[i].chunk}] = i;
      if (items_[i].source.place != kNotWritten) make_ready(i);
    }
  }

  /// Returns when every chunk is in its place and the version is committed, or something failed.
  void run() {
    const base::Status led = base::caught(job_.version.id.text(), [this]() -> base::Status {
      lead();
      return {};
    });
    if (!led) worker_failed(led.error());
    finish();
  }

 private:
  void lead() {
    start_threads();
    for (bool more = job_.open; more && !failed_;) {
      more = receive(source_.news(failed_));
      start_threads();
    }
  }

  /// False when nothing more is to come.
  bool receive(const CaptureNews& news) {
    const bool over = news.state == CaptureNews::State::over;
    {
      std::lock_guard lock(mutex_);
      take_in(news);
      if (over) fail({PERDURE_PEER_FAILED, job_.version.id.text(), "it was given up", "", true}, true);
    }
    changed_.notify_all();
    if (over) source_.wake();
    return news.state == CaptureNews::State::open;
  }

  void take_in(const CaptureNews& news) {
    for (std::size_t i = 0; i < news.written.size(); ++i) {
      const auto number = numbers_.find(news.written[i]);
      if (number == numbers_.end() || items_[number->second].source.place != kNotWritten) continue;
      items_[number->second].source = news.chunks[i];
      make_ready(number->second);
    }
  }

  void make_ready(std::size_t item) {
    sequence_.add(item, items_[item].source.place);
    if (slow(item)) ++count_.ready_slow;
  }

  bool slow(std::size_t item) const {
    const std::uint32_t place = items_[item].source.place;
    return place < job_.slow.size() && job_.slow[place];
  }

  void start_threads() {
    std::lock_guard lock(mutex_);
    // Whoever lets chunks begin sees to it that no more store.
    const std::size_t most = (count_.ready_slow > 0 ? 2 : 1) * std::size_t{job_.threads};
    while (!failed_ && threads_.size() < most && count_.idle < sequence_.size()) {
      auto begun = os::Thread::start(
          "flush worker", [this] { work(); },
          [this](const base::Error& why) {
            worker_failed(why);
            return false;
          });
      if (!begun && !threads_.empty()) return;  // the others have to do
      if (!begun) return fail(begun.error(), false);
      ++count_.idle;
      threads_.push_back(std::move(*begun));
    }
  }

  void worker_failed(const base::Error& why) {
    {
      std::lock_guard lock(mutex_);
      fail(why, false);
    }
    source_.wake();
  }

  void work() {
    std::vector<std::byte> buffer;
    bool of_slow_tier = false;
    while (await_chunk(of_slow_tier)) {
      std::optional<std::size_t> item;
      ChunkFlight flight = source_.begin(of_slow_tier, failed_, [this, &item](bool slots_wanted) {
        item = take(slots_wanted);
        return item ? std::optional(chunk_of(items_[*item])) : std::nullopt;
      });
      if (!item) {
        source_.end(flight, false);
        continue;
      }
      WriteOutcome written;
      const base::Status tried = base::caught(job_.version.id.text(), [&]() -> base::Status {
        written = writer_.write(items_[*item], buffer, flight, [this, item](bool reading) {
          std::lock_guard lock(mutex_);
          sequence_.reads(*item, reading);
        });
        return {};
      });
      if (!tried) written = {base::fail(tried.error())};
      source_.end(flight, written.status.has_value());
      note(*item, written);
    }
  }

  static FlushedChunk chunk_of(const FlushItem& item) {
    return {{item.rank, item.chunk}, {item.source.place, item.source.offset}, item.target, item.source.length};
  }

  /// False when none comes any more. `of_slow_tier`: it may be.
  bool await_chunk(bool& of_slow_tier) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return sequence_.size() > 0 || over_ || failed_; });
    of_slow_tier = count_.ready_slow > 0;
    return !failed_ && sequence_.size() > 0;
  }

  /// Nothing when others were faster. Called with the ledger held.
  std::optional<std::size_t> take(bool slots_wanted) {
    std::lock_guard lock(mutex_);
    if (failed_ || sequence_.size() == 0) return std::nullopt;
    --count_.idle;
    const auto item = sequence_.next(slots_wanted);
    if (item && slow(*item)) --count_.ready_slow;
    return item;
  }

  void note(std::size_t item, const WriteOutcome& written) {
    {
      std::lock_guard lock(mutex_);
      ++count_.idle;
      sequence_.reads(item, false);
      if (written.status)
        ++count_.done;
      else
        note_failure(items_[item], written);
    }
    if (!written.status) source_.wake();
  }

  void note_failure(const FlushItem& item, const WriteOutcome& written) {
    if (written.damaged && !outcome_.damaged) {
      outcome_.damaged = true;
      outcome_.rank = item.rank;
      outcome_.chunk = item.chunk;
      outcome_.read = item.source;
    }
    fail(written.status.error(), written.gone);
  }

  /// With the mutex held. Who waits at the source has to be woken afterwards, without it.
  void fail(const base::Error& error, bool gone) {
    if (!failed_) {
      outcome_.status = base::fail(error);
      outcome_.gone = gone;
    }
    failed_ = true;
    changed_.notify_all();
  }

  void finish() {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    threads_.clear();  // which are waited for
    if (failed_ || count_.done == items_.size()) return;
    outcome_.status = base::fail(
        PERDURE_INTERNAL, job_.version.id.text(),
        "only " + std::to_string(count_.done) + " of " + std::to_string(items_.size()) + " chunks came to be flushed");
  }

  const FlushJob& job_;
  FlushSource& source_;
  std::vector<FlushItem>& items_;
  FlushOutcome& outcome_;
  ChunkWriter writer_;
  std::map<ChunkName, std::size_t> numbers_;
  // Of all that follows, of the outcome, and of the source of items that are not ready. Taken after the ledger.
  std::mutex mutex_;
  std::condition_variable changed_;
  FlushSequence sequence_;
  struct Counts {
    std::size_t ready_slow = 0;  // chunks that nobody has begun and that take time to be read
    std::size_t done = 0;        // chunks in their place
    std::size_t idle = 0;        // threads without a chunk
  };
  Counts count_;
  bool over_ = false;  // no more become ready
  std::atomic<bool> failed_ = false;
  std::vector<os::Thread> threads_;
};

void flush_segments(store::Store& store, tier::SlotIo& slots, const FlushJob& job, FlushSource& source,
                    const std::vector<catalog::LocalSegment>& segments, FlushOutcome& outcome) {
  OpenSegments open(job.version, segments);
  outcome.status = open.open(store);
  // Whatever happens from the first chunk on, even in the commit: a slot may have been given away meanwhile.
  open.keep(true);
  if (outcome.status) ChunkFlush(job, source, slots, open, outcome).run();
  if (outcome.status) {
    outcome.status = source.turn();
    outcome.gone = !outcome.status;
  }
  if (outcome.status)
    outcome.status = open.publish(outcome.bytes, [&source](std::uint32_t segment) { return source.stored(segment); });
  open.keep(source.over());
}

}  // namespace

FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job, FlushSource& source) {
  FlushOutcome outcome;
  os::crash_point(os::CrashPoint::flush_begin);
  std::vector<catalog::LocalSegment> left;
  for (const auto& segment : job.version.segments)
    if (!segment.stored) left.push_back(segment);
  // Chunks of an open capture come in any order, so that all its segments have to be open. Otherwise one after the
  // other, so that each is published as early as possible.
  if (job.open) {
    flush_segments(store, slots, job, source, left, outcome);
    return outcome;
  }
  for (std::size_t i = 0; i < left.size() && outcome.status; ++i)
    flush_segments(store, slots, job, source, {left[i]}, outcome);
  return outcome;
}

}  // namespace perdure::engine
