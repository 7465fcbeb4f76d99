// Captures that several threads read at a time are the same versions as those that one thread reads.
#include "client/write/version_writer.hpp"

#include <atomic>
#include <filesystem>
#include <map>

#include "client/ranks_testing.hpp"

namespace perdure::client {
namespace {

/// Counts how many threads read it at a time, and may fail at first.
class SideBySide : public capture::GeneratedSource {
 public:
  SideBySide(std::uint64_t bytes, std::uint64_t seed, capture::Manner manner)
      : GeneratedSource(bytes, seed), manner_(manner) {}
  capture::Manner manner() const override { return manner_; }
  base::Status read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override {
    const int now = ++reading_;
    for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
    }
    base::Status done;
    if (failures_-- > 0) done = base::fail(PERDURE_NO_SPACE, "slot", "it is full");
    if (done) done = GeneratedSource::read(range, take);
    --reading_;
    return done;
  }
  int most() const { return most_; }
  void fail_times(int times) { failures_ = times; }

 private:
  capture::Manner manner_;
  std::atomic<int> reading_{0}, most_{0}, failures_{0};
};

class VersionWriting : public JobOfThreads {
 protected:
  static void write_and_read(Job& job, std::int64_t version, SideBySide& source, std::uint64_t bytes) {
    VersionWriter writer(job, source);
    const auto id = attempt_at(job, version);
    base::Status outcome = writer.begin(id);
    if (outcome) outcome = writer.put_all();
    if (outcome) outcome = writer.stage();
    ASSERT_TRUE(agree(job.comm(), outcome)) << (outcome ? "" : outcome.error().text());
    ASSERT_TRUE(writer.commit());
    VersionReader reader(job);
    choose(reader);
    ASSERT_TRUE(reader.fetch());
    expect_reads(reader, job.rank(), 0, bytes);
    reader.release();
  }
};

TEST_F(VersionWriting, ReadsASourceByAsManyThreadsAsItLikes) {
  for (const bool once : {false, true})
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
      SCOPED_TRACE(std::to_string(threads) + (once ? " threads, once" : " threads"));
      const std::int64_t version = 2 * threads + (once ? 1 : 0);
      on_ranks([&](Job& job) {
        SideBySide source(kBytes, seed(job.rank()), {threads, once});
        write_and_read(job, version, source, kBytes);
        EXPECT_LE(source.most(), static_cast<int>(threads));
      });
    }
}

TEST_F(VersionWriting, HoldsNoSlotWhileItWaitsForAnother) {
  more_ = "tier.order=file;tier.file.max_bytes=192KiB;node.ranks_per_node=1;";  // three chunks of ten
  constexpr std::uint64_t kMuch = 10 * kChunk - 1000;
  ranks_ = per_node_ = 1;
  on_ranks([&](Job& job) {
    SideBySide source(kMuch, seed(job.rank()), {8, true});
    write_and_read(job, 1, source, kMuch);
  });
}

TEST_F(VersionWriting, TakesAnotherTierForWhatCannotBeWritten) {
  constexpr std::uint64_t kMuch = 10 * kChunk;
  ranks_ = per_node_ = 1;
  on_ranks([&](Job& job) {
    SideBySide source(kMuch, seed(job.rank()), {3, true});
    source.fail_times(1);
    write_and_read(job, 1, source, kMuch);
  });
}

TEST_F(VersionWriting, LeavesNothingWhenItFails) {
  ranks_ = per_node_ = 1;
  on_ranks([&](Job& job) {
    SideBySide source(kBytes, seed(job.rank()), {3, true});
    source.fail_times(100);
    VersionWriter writer(job, source);
    ASSERT_TRUE(writer.begin(attempt_at(job, 1)));
    EXPECT_EQ(writer.put_all().error().code, PERDURE_NO_SPACE);
    writer.abort();
    source.fail_times(0);
    write_and_read(job, 1, source, kBytes);
  });
}

TEST_F(VersionWriting, CutsNoLongerChunksThanItsSourceLikesUnlessSomebodyChose) {
  ranks_ = per_node_ = 1;
  for (const bool chosen : {true, false}) {
    if (!chosen) chunks_.clear();
    on_ranks([&](Job& job) {
      SideBySide source(kBytes, seed(job.rank()), {1, true, 2 * kChunk});
      VersionWriter writer(job, source);
      ASSERT_TRUE(writer.begin(attempt_at(job, chosen ? 1 : 2)));
      ASSERT_TRUE(writer.put_all());
      ASSERT_TRUE(writer.stage());
      ASSERT_TRUE(writer.commit());
      VersionReader reader(job);
      choose(reader);
      EXPECT_EQ((*reader.locate(job.rank()))->chunks.size(), chosen ? 4U : 2U);
      reader.release();
    });
  }
}

TEST_F(VersionWriting, HasNoSlotsMadeAheadForWhatIsWrittenOnce) {
  ranks_ = per_node_ = 1;
  const auto bytes_of_slots = [&] {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "node"))
      if (entry.path().filename().string().starts_with("arena") && entry.file_size() > 0)
        bytes += entry.file_size() - 2 * base::MiB;  // room for a header
    return bytes;
  };
  on_ranks([&](Job& job) {
    std::map<bool, std::uint64_t> made;
    for (const bool once : {true, false}) {
      SideBySide source(kBytes, seed(job.rank()), {1, once});
      VersionWriter writer(job, source);
      ASSERT_TRUE(writer.begin(attempt_at(job, once ? 1 : 2)));
      made[once] = bytes_of_slots();
      writer.abort();
    }
    EXPECT_GT(made[false], 0U);
    EXPECT_LE(4 * made[true], made[false]) << "of four chunks the first one is asked for";
  });
}

}  // namespace
}  // namespace perdure::client
