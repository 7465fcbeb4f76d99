// Counts how often a flush takes the ledger's lock, for which all producers of a node wait, too.
#include <condition_variable>
#include <mutex>

#include "engine/flush/flusher_testing.hpp"

namespace perdure::engine {
namespace {

/// One when a chunk begins, one when it has ended.
inline constexpr unsigned kMostLocksPerFlushedChunk = 2;

class FlushLocks : public CaptureFixture {
 protected:
  /// Opens a tier with chunks of `bytes`. A file tier is slow, since it has to be read; a memory tier's slots are
  /// mapped.
  void open_tier(const std::string& kind, std::uint64_t bytes) {
    chunk_bytes = bytes;
    std::vector<std::unique_ptr<tier::Tier>> tiers;
    const std::uint64_t slot = std::max<std::uint64_t>(bytes, 2 * base::MiB);  // memory has pages of that size
    const tier::TierOptions options{0, directory / kind, bytes, 64 * slot};
    tiers.push_back(std::move(*tier::make_tier(kind, options)));
    chunk_is_mapped = tiers[0]->properties().mapped;
    ASSERT_EQ(chunk_is_mapped, kind == "memory");
    make(std::move(tiers), {});
    ASSERT_TRUE(core->recover());
    made = std::move(*store::make_store(directory / ("store-" + kind)));
  }
  /// Returns how often the lock was taken from a version's commit until the flusher is idle again. Nobody else takes it
  /// meanwhile, since the flusher reports its end and is not polled.
  std::uint64_t taken_by(std::uint64_t version, std::size_t chunks, unsigned threads) {
    {
      const auto guard = ledger->lock();
      ipc::Stage stage{id(version), 1, {0, chunk_bytes, {{0, 1, chunk_bytes * chunks}}, {}}};
      const auto zeros = base::hash128(std::vector<std::byte>(chunk_bytes));
      for (std::size_t i = 0; i < chunks; ++i) {
        const auto slot = core->grants.grant(1, {id(version), chunk_bytes, 0, {}, ""}).address;
        stage.piece.chunks.push_back({slot.slot, chunk_bytes, zeros, slot.tier});
      }
      EXPECT_TRUE(core->held.stage(1, stage));
      EXPECT_TRUE(core->held.commit(commit_of(id(version))));
    }
    const std::uint64_t before = ledger->lock().times_taken();
    FlusherOptions options;
    options.threads = threads;
    options.room = [] {};
    std::mutex mutex;
    std::condition_variable told;
    bool rests = false;
    Flusher flusher(
        *ledger, *made, reports, options, [](const segment::VersionId&, bool stored) { EXPECT_TRUE(stored); },
        [&] {
          const std::lock_guard lock(mutex);
          rests = true;
          told.notify_all();
        });
    {
      std::unique_lock lock(mutex);
      EXPECT_TRUE(told.wait_for(lock, std::chrono::minutes(1), [&] { return rests; }));
    }
    flusher.stop();
    const std::uint64_t taken = ledger->lock().times_taken() - before;
    EXPECT_TRUE(core->find(id(version))->all_stored());
    return taken;
  }
  /// The rest of a flush takes the lock equally often for any number of chunks, except for threads that find none left.
  void expect_two_per_chunk(unsigned threads, std::size_t few, std::size_t more) {
    const auto by_few = taken_by(1, few, threads), by_more = taken_by(2, more, threads);
    ASSERT_GT(by_more, by_few);
    // Threads that come too late for the last chunk look once in vain. A slow tier has twice as many threads.
    const unsigned most = chunk_is_mapped ? threads : 2 * threads;
    const std::uint64_t in_vain = most > 1 ? most : 0;
    EXPECT_LE(by_more - by_few, kMostLocksPerFlushedChunk * (more - few) + in_vain);
    EXPECT_GE(by_more - by_few, more - few) << "or what is counted is another lock";
  }
  std::unique_ptr<store::Store> made;
  std::uint64_t chunk_bytes = 0;
  bool chunk_is_mapped = false;
};

TEST_F(FlushLocks, AMappedTierTakesItTwicePerChunk) {
  open_tier("memory", kChunk);
  expect_two_per_chunk(1, 4, 16);
}

// Each chunk is read and written in two blocks, so its flush turns from one to the other three times.
TEST_F(FlushLocks, ASlowTierTakesItTwicePerChunkHoweverOftenItTurns) {
  open_tier("file", 5 * base::MiB);
  expect_two_per_chunk(1, 2, 12);
}

TEST_F(FlushLocks, SeveralThreadsTakeItNoMoreOften) {
  open_tier("file", kChunk);
  expect_two_per_chunk(3, 8, 32);
}

}  // namespace
}  // namespace perdure::engine
