#include "engine/flush/segment_flush.hpp"

#include <algorithm>
#include <thread>

#include "engine/flush/chunk_writer.hpp"
#include "engine/flush/flush_sequence.hpp"
#include "engine/flush/open_segments.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

// Brings the chunks of open segments to their places. The thread that made it sees to it that others work: it waits for
// news and starts threads while there is more to do than those that are there can begin with.
class ChunkFlush {
 public:
  ChunkFlush(const FlushJob& job, tier::SlotIo& slots, OpenSegments& segments, FlushOutcome& outcome)
      : job_(job),
        items_(segments.items()),
        outcome_(outcome),
        writer_(job, slots, segments),
        sequence_(job.read_bytes_per_s, job.threads) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      numbers_[{items_[i].rank, items_[i].chunk}] = i;
      if (items_[i].source.place != kNotWritten) make_ready(i);
    }
  }

  /// Returns when every chunk is in its place and the version is committed, or something failed.
  void run() {
    start_threads();
    for (bool more = job_.news != nullptr; more && !failed_;) {
      more = receive(job_.news(failed_));
      start_threads();
    }
    finish();
  }

 private:
  /// False when nothing more is to come.
  bool receive(const CaptureNews& news) {
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < news.written.size(); ++i) {
      const auto number = numbers_.find(news.written[i]);
      if (number == numbers_.end() || items_[number->second].source.place != kNotWritten) continue;
      items_[number->second].source = news.chunks[i];
      make_ready(number->second);
    }
    if (news.state == CaptureNews::State::over)
      fail({PERDURE_PEER_FAILED, job_.version.id.text(), "it was given up", "", true}, true);
    changed_.notify_all();
    return news.state == CaptureNews::State::open;
  }

  void make_ready(std::size_t item) {
    sequence_.add(item, items_[item].source.place);
    ++ready_;
    if (slow(item)) ++ready_slow_;
  }

  bool slow(std::size_t item) const {
    const std::uint32_t place = items_[item].source.place;
    return place != catalog::kInTemporarySegment && job_.slow && job_.slow(place);
  }

  void start_threads() {
    std::lock_guard lock(mutex_);
    const bool more_may_read = ready_slow_ > 0 && job_.enter;  // who enters sees to it that no more store
    const std::size_t most = (more_may_read ? 2 : 1) * std::size_t{job_.threads};
    while (!failed_ && threads_.size() < most && idle_ < ready_) {
      ++idle_;
      threads_.emplace_back([this] { work(); });
    }
  }

  void work() {
    std::vector<std::byte> buffer;
    bool of_slow_tier = false;
    while (await_chunk(of_slow_tier)) {
      Admission admission(job_, of_slow_tier, failed_);
      const auto item = take();
      if (!item) continue;
      admission.tell([this, item](bool reading) {
        std::lock_guard lock(mutex_);
        sequence_.reads(*item, reading);
      });
      note(*item, writer_.write(items_[*item], buffer, admission));
    }
  }

  /// False when none comes any more. `of_slow_tier`: it may be.
  bool await_chunk(bool& of_slow_tier) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_ > 0 || over_ || failed_; });
    of_slow_tier = ready_slow_ > 0;
    return !failed_ && ready_ > 0;
  }

  /// Nothing when others were faster.
  std::optional<std::size_t> take() {
    std::lock_guard lock(mutex_);
    if (failed_ || ready_ == 0) return std::nullopt;
    --ready_;
    --idle_;
    const auto item = sequence_.next(job_.slots_wanted && job_.slots_wanted());
    if (item && slow(*item)) --ready_slow_;
    return item;
  }

  void note(std::size_t item, const WriteOutcome& written) {
    std::lock_guard lock(mutex_);
    ++idle_;
    sequence_.reads(item, false);
    if (written.status)
      ++done_;
    else
      note_failure(items_[item], written);
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

  void fail(const base::Error& error, bool gone) {
    if (!failed_) {
      outcome_.status = base::fail(error);
      outcome_.gone = gone;
    }
    failed_ = true;
    changed_.notify_all();
    if (job_.wake) job_.wake();
  }

  void finish() {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
    if (failed_ || done_ == items_.size()) return;
    outcome_.status = base::fail(
        PERDURE_INTERNAL, job_.version.id.text(),
        "only " + std::to_string(done_) + " of " + std::to_string(items_.size()) + " chunks came to be flushed");
  }

  const FlushJob& job_;
  std::vector<FlushItem>& items_;
  FlushOutcome& outcome_;
  ChunkWriter writer_;
  std::map<ChunkName, std::size_t> numbers_;
  std::mutex mutex_;  // of all that follows, of the outcome, and of the source of items that are not ready
  std::condition_variable changed_;
  FlushSequence sequence_;
  std::size_t ready_ = 0;       // chunks that nobody has begun
  std::size_t ready_slow_ = 0;  // of them those that take time to be read
  std::size_t done_ = 0;        // chunks in their place
  std::size_t idle_ = 0;        // threads without a chunk
  bool over_ = false;           // no more become ready
  std::atomic<bool> failed_ = false;
  std::vector<std::thread> threads_;
};

void flush_segments(store::Store& store, tier::SlotIo& slots, const FlushJob& job,
                    const std::vector<catalog::LocalSegment>& segments, FlushOutcome& outcome) {
  OpenSegments open(job.version, segments);
  outcome.status = open.open(store);
  // Whatever happens from the first chunk on, even in the commit: a slot may have been given away meanwhile.
  open.keep(true);
  if (outcome.status) ChunkFlush(job, slots, open, outcome).run();
  if (outcome.status && job.turn) {
    outcome.status = job.turn();
    outcome.gone = !outcome.status;
  }
  if (outcome.status) outcome.status = open.publish(outcome.bytes, job.stored);
  open.keep(job.over && job.over());
}

}  // namespace

FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job) {
  FlushOutcome outcome;
  os::crash_point(os::CrashPoint::flush_begin);
  std::vector<catalog::LocalSegment> left;
  for (const auto& segment : job.version.segments)
    if (!segment.stored) left.push_back(segment);
  // Chunks of an open capture come in any order, so that all its segments have to be open. Otherwise one after the
  // other, so that each is published as early as possible.
  if (job.news) {
    flush_segments(store, slots, job, left, outcome);
    return outcome;
  }
  for (std::size_t i = 0; i < left.size() && outcome.status; ++i) flush_segments(store, slots, job, {left[i]}, outcome);
  return outcome;
}

}  // namespace perdure::engine
