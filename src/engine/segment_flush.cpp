#include "engine/segment_flush.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "base/version.hpp"
#include "engine/flush_sequence.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "plan/backoff.hpp"
#include "segment/segment.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kBlock = 4 * base::MiB;

struct Item {
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  tier::SlotAddress slot;
  std::uint64_t target = 0;  // offset in the segment
  std::uint64_t length = 0;
  base::Hash128 hash;
};

struct Work {
  segment::Manifest manifest;
  std::uint64_t manifest_offset = 0;
  std::vector<std::byte> tail;
  std::vector<Item> items;
};

Work plan_segment(const FlushJob& job, const catalog::LocalSegment& segment) {
  Work work;
  work.manifest = {
      job.version.id, job.version.ranks, segment.index, segment.count, std::string("perdure ") + base::kVersion, {}};
  for (std::uint32_t rank : segment.ranks) work.manifest.pieces.push_back(job.version.pieces.at(rank));
  work.manifest_offset = segment::lay_out(work.manifest);
  for (auto& piece : work.manifest.pieces) {
    const auto& held = job.version.pieces.at(piece.rank).chunks;
    for (std::uint32_t c = 0; c < held.size(); ++c) {
      piece.chunks[c].place = 0;
      work.items.push_back({piece.rank, c, job.address(held[c]), piece.chunks[c].offset, held[c].length, held[c].hash});
    }
  }
  work.tail = segment::encode_tail(work.manifest, work.manifest_offset);
  return work;
}

// Shared by the threads of one segment.
class Writer {
 public:
  Writer(const FlushJob& job, tier::SlotIo& slots, store::SegmentSink& sink, const std::vector<Item>& items,
         FlushOutcome& outcome)
      : job_(job),
        slots_(slots),
        sink_(sink),
        items_(items),
        outcome_(outcome),
        started_ns_(os::monotonic_ns()),
        sequence_(tiers_of(items), job.read_bytes_per_s, job.threads) {}

  void run() {
    std::vector<std::byte> buffer;
    while (const auto i = next()) {
      if (auto status = watched(items_[*i], buffer); !status) fail(status.error());
      std::lock_guard lock(mutex_);
      sequence_.ended(*i);
    }
  }

 private:
  static std::vector<std::uint32_t> tiers_of(const std::vector<Item>& items) {
    std::vector<std::uint32_t> tiers;
    for (const Item& item : items) tiers.push_back(item.slot.tier);
    return tiers;
  }

  std::optional<std::size_t> next() {
    std::lock_guard lock(mutex_);
    return failed_ ? std::nullopt : sequence_.next();
  }

  base::Status watched(const Item& item, std::vector<std::byte>& buffer) {
    metrics::FlushRate::Started started;
    if (job_.chunk_begins) started = job_.chunk_begins(item.slot.tier);
    base::Status status = write_item(item, buffer);
    if (job_.chunk_ended) job_.chunk_ended(item.slot.tier, started, item.length, status.has_value());
    return status;
  }

  base::Status write_item(const Item& item, std::vector<std::byte>& buffer) {
    base::Hasher hasher;
    if (auto* device = job_.device ? job_.device(item.slot.tier) : nullptr) device->transfer(item.length);
    PERDURE_TRY(const base::ConstByteSpan view, slots_.view(item.slot, item.length));
    for (std::uint64_t done = 0; done < item.length; done += kBlock) {
      if (job_.cancelled != nullptr && *job_.cancelled)
        return base::fail(PERDURE_UNAVAILABLE, "flush", "the engine is stopping", "", true);
      const std::uint64_t bytes = std::min(kBlock, item.length - done);
      base::ConstByteSpan block = item.slot.mapped ? view.subspan(done, bytes) : base::ConstByteSpan{};
      if (item.slot.mapped) {
        hasher.update(block);
      } else {
        buffer.resize(kBlock);
        PERDURE_CHECK(slots_.read(item.slot, done, base::ByteSpan(buffer).first(bytes), hasher));
        block = base::ConstByteSpan(buffer).first(bytes);
      }
      PERDURE_CHECK(sink_.write(item.target + done, block));
      pace(bytes);
    }
    os::crash_point(os::CrashPoint::flush_chunk);
    if (hasher.digest() == item.hash) return {};
    std::lock_guard lock(mutex_);
    outcome_.damaged = true;
    outcome_.rank = item.rank;
    outcome_.chunk = item.chunk;
    return base::fail(PERDURE_CORRUPT, job_.version.id.text(),
                      "rank " + std::to_string(item.rank) + " chunk " + std::to_string(item.chunk) +
                          " changed in its slot in " + item.slot.path + " at offset " +
                          std::to_string(item.slot.offset),
                      "check this node's memory or disk");
  }

  void pace(std::uint64_t bytes) {
    const std::uint64_t sent = written_ += bytes;
    os::sleep_ns(plan::pacing_delay_ns(sent, os::monotonic_ns() - started_ns_, job_.max_bytes_per_s));
  }

  void fail(const base::Error& error) {
    std::lock_guard lock(mutex_);
    if (!failed_.exchange(true)) outcome_.status = base::fail(error);
  }

  const FlushJob& job_;
  tier::SlotIo& slots_;
  store::SegmentSink& sink_;
  const std::vector<Item>& items_;
  FlushOutcome& outcome_;
  std::uint64_t started_ns_;
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // of what follows and of the outcome
  FlushSequence sequence_;
};

void write_chunks(const FlushJob& job, tier::SlotIo& slots, store::SegmentSink& sink, const Work& work,
                  FlushOutcome& outcome) {
  Writer writer(job, slots, sink, work.items, outcome);
  const std::size_t helpers = std::min<std::size_t>(job.threads, work.items.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < helpers; ++i) threads.emplace_back([&writer] { writer.run(); });
  writer.run();
}

base::Status flush_segment(store::Store& store, tier::SlotIo& slots, const FlushJob& job,
                           const catalog::LocalSegment& segment, FlushOutcome& outcome) {
  const Work work = plan_segment(job, segment);
  const std::uint64_t bytes = work.manifest_offset + work.tail.size();
  PERDURE_TRY(auto sink, store.begin(work.manifest, bytes));
  PERDURE_CHECK(sink->write(0, segment::encode_header(work.manifest)));
  write_chunks(job, slots, *sink, work, outcome);
  PERDURE_CHECK(outcome.status);
  PERDURE_CHECK(sink->write(work.manifest_offset, work.tail));
  PERDURE_CHECK(sink->commit());
  outcome.bytes += bytes;
  return job.stored(segment.index);
}

}  // namespace

FlushOutcome flush(store::Store& store, tier::SlotIo& slots, const FlushJob& job) {
  FlushOutcome outcome;
  os::crash_point(os::CrashPoint::flush_begin);
  for (const auto& segment : job.version.segments) {
    if (segment.stored) continue;
    outcome.status = flush_segment(store, slots, job, segment, outcome);
    if (!outcome.status) break;
  }
  return outcome;
}

}  // namespace perdure::engine
