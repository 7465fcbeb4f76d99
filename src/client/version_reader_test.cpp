// Versions of generated data, which no region has, use the same writer and reader as registered memory. Any rank reads
// any rank's data.
#include "client/version_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "client/inventory.hpp"
#include "client/levels.hpp"
#include "client/ranks_testing.hpp"
#include "engine/host/much_kept_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"
#include "support/sanitized.hpp"

namespace perdure::client {
namespace {

class VersionReading : public JobOfThreads {};

std::uint32_t neighbour(const Job& job) { return job.rank() ^ 1U; }       // on the same node
std::uint32_t elsewhere(const Job& job) { return (job.rank() + 2) % 4; }  // on the other one

TEST_F(VersionReading, GivesAnyRanksDataFromSlotsHereOrElseFromTheStore) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 3));
    VersionReader reader(job);
    choose(reader);
    EXPECT_EQ(reader.id().version, 3U);
    ASSERT_TRUE(reader.fetch());
    for (const std::uint32_t rank : {job.rank(), neighbour(job)}) {
      const auto piece = reader.locate(rank);
      ASSERT_TRUE(piece) << piece.error().text();
      EXPECT_EQ((*piece)->rank, rank);
      ASSERT_EQ((*piece)->regions.size(), 2U);
      EXPECT_EQ((*piece)->regions[1].kind, segment::EntryKind::opaque);
      EXPECT_EQ((*piece)->regions[1].attributes,
                (segment::Attributes{{"seed", static_cast<std::int64_t>(seed(rank))}}));
      expect_reads(reader, rank, 0, kBytes);
    }
    EXPECT_EQ(reader.bytes_read().slots, 2 * kBytes);
    EXPECT_EQ(reader.bytes_read().store, 0U);
    expect_reads(reader, elsewhere(job), 0, kBytes);
    EXPECT_EQ(reader.bytes_read().store, kBytes);
    reader.release();
  });
}

TEST_F(VersionReading, GivesAnyRangeAcrossTheBordersOfChunks) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 0));
    VersionReader reader(job);
    choose(reader);
    for (const std::uint32_t rank : {neighbour(job), elsewhere(job)}) {
      expect_reads(reader, rank, 0, 0);
      expect_reads(reader, rank, 0, 1);
      expect_reads(reader, rank, kChunk - 1, 1);
      expect_reads(reader, rank, kChunk - 1, 2);
      expect_reads(reader, rank, kChunk, kChunk);
      expect_reads(reader, rank, 1000, 2 * kChunk);
      expect_reads(reader, rank, kBytes - 1, 1);
      expect_reads(reader, rank, kBytes, 0);
      std::vector<std::byte> bytes(10);
      EXPECT_EQ(reader.read(rank, {kBytes - 5, 10}, bytes).error().code, PERDURE_INVALID_ARGUMENT);
      EXPECT_EQ(reader.read(rank, {~std::uint64_t{0}, 10}, bytes).error().code, PERDURE_INVALID_ARGUMENT);
      EXPECT_EQ(reader.read(rank, {0, 9}, bytes).error().code, PERDURE_INVALID_ARGUMENT);
    }
    EXPECT_EQ(reader.locate(4).error().code, PERDURE_INVALID_ARGUMENT);
    reader.release();
  });
}

// Bytes beside the damaged one fail with it: a chunk is verified as a whole. Those of other chunks are not touched.
TEST_F(VersionReading, ReadsADamagedChunkFromTheStoreAndSetsTheSlotAside) {
  on_ranks([&](Job& job) {
    const auto id = write(job, 1);
    wait_for_store(job, id);
    if (job.rank() == 0) damage_slot(job, id, 1, 2);
    ASSERT_TRUE(job.comm().barrier());
    VersionReader reader(job);
    choose(reader);
    if (job.rank() == 0) {
      expect_reads(reader, 1, 0, 2 * kChunk);
      EXPECT_EQ(reader.bytes_read().store, 0U);
      expect_reads(reader, 1, 2 * kChunk + 10'000, 20'000);
      EXPECT_EQ(reader.bytes_read().store, kChunk);
      EXPECT_EQ(reader.bytes_read().slots, 2 * kChunk);
      const auto reply = job.engine().channel().call(ipc::Locate{id, 1}).value();
      EXPECT_EQ(reply.quarantined, std::vector<std::uint32_t>{2});
    }
    reader.release();
  });
}

TEST_F(VersionReading, FailsWhereNoPlaceHasTheChunkAsItWas) {
  on_ranks([&](Job& job) {
    const auto id = write(job, 1);
    wait_for_store(job, id);
    if (job.rank() == 0) {
      damage_slot(job, id, 1, 0);
      const auto listing = job.store().list("app").value().at(0);
      for (const auto& segment : listing.segments) {
        const auto path = directory_ / "store/" + segment.path;
        const auto file = os::File::open(path, os::Open::read_write).value();
        const std::vector<std::byte> zeros(4096);
        const auto source = job.store().open(segment).value();
        const auto manifest = segment::read_manifest(*source).value();
        for (const auto& piece : manifest.pieces) {
          if (piece.rank != 1) continue;
          ASSERT_TRUE(file.write(piece.chunks[0].offset, zeros));
        }
      }
    }
    ASSERT_TRUE(job.comm().barrier());
    VersionReader reader(job);
    choose(reader);
    std::vector<std::byte> bytes(100);
    if (job.rank() == 0) {
      const auto status = reader.read(1, {0, 100}, bytes);
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, PERDURE_CORRUPT);
      EXPECT_NE(status.error().text().find("rank 1 chunk 0"), std::string::npos) << status.error().text();
    }
    reader.release();
  });
}

// The newest version left a node's tiers in part, because the store has it. While the store cannot be read, an older
// version that is still complete there must not count as the latest.
TEST_F(VersionReading, TakesNoOlderVersionForTheLatestWhileTheStoreCannotBeRead) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 1));
    VersionReader older(job);
    choose(older);
    ASSERT_TRUE(older.locate(job.rank()));  // so that its slots stay
    const auto newest = write(job, 2);
    wait_for_store(job, newest);
    if (job.rank() == 0) {
      ASSERT_TRUE(job.engine().channel().call(ipc::Quarantine{newest, 0, 0, "as if it had been given up"}));
    }
    const auto choose_with = [&](const std::string& rule, VersionReader& reader) {
      std::optional<os::FaultRules> broken;
      EXPECT_TRUE(job.comm().barrier());
      if (job.rank() == 0) os::install_hooks(&broken.emplace(*os::parse_fault_rules(rule)));
      auto status = reader.choose({Operation::restore, "app", -1}, {});
      EXPECT_TRUE(job.comm().barrier());
      if (job.rank() == 0) os::install_hooks(nullptr);
      EXPECT_TRUE(job.comm().barrier());
      return status;
    };
    const std::string listing = "open:" + directory_ / "store/app" + ":EIO";
    VersionReader reader(job);
    const auto passing = choose_with(listing + ":1:2", reader);
    ASSERT_TRUE(passing) << "it is tried again: " << passing.error().text();
    EXPECT_EQ(reader.id().version, 2U);
    reader.release();
    const auto lasting = choose_with(listing, reader);
    ASSERT_FALSE(lasting);
    EXPECT_EQ(lasting.error().code, PERDURE_IO);
    EXPECT_NE(lasting.error().text().find("newer version than the nodes"), std::string::npos) << lasting.error().text();
    older.release();
  });
}

// Others needed its slots after the choice.
TEST_F(VersionReading, FindsInTheStoreWhatHasLeftItsSlotsSinceItWasChosen) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    const auto id = write(job, 1);
    VersionReader reader(job);
    choose(reader);
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 0) os::install_hooks(nullptr);
    wait_for_store(job, id);
    if (job.leads()) {
      ASSERT_TRUE(job.engine().channel().call(ipc::Retire{"app", 1}));
    }
    ASSERT_TRUE(job.comm().barrier());
    expect_reads(reader, job.rank(), 0, kBytes);
    EXPECT_EQ(reader.bytes_read().store, kBytes);
    reader.release();
  });
}

/// Slots for half of a version: the rest is in segments that are not published.
class HalfFlushedReading : public VersionReading {
 protected:
  HalfFlushedReading() { more_ = "tier.order=file;tier.file.max_bytes=256KiB"; }
  /// Writes, beside each segment that was begun, another one with the same name, of a writer that died.
  void begin_others() const {
    const std::string version = directory_ / "store/app/1/";
    const auto entries = os::list_directory(version);
    ASSERT_TRUE(entries) << entries.error().text();
    unsigned begun = 0;
    for (const auto& entry : *entries) {
      if (!entry.name.starts_with(".tmp-")) continue;
      std::string other = entry.name;
      other[5] = other[5] == '0' ? '1' : '0';  // the writer's number
      ASSERT_TRUE(os::write_file_atomically(version + other, std::vector<std::byte>(2 * base::MiB)));
      ++begun;
    }
    ASSERT_EQ(begun, 2U);
  }
};

TEST_F(HalfFlushedReading, TakesEachChunkFromTheSegmentThatHasIt) {
  os::FaultRules broken(*os::parse_fault_rules("fdatasync:/store/app:EIO"));
  const test_support::InstalledHooks installed(broken);
  std::atomic<std::uint64_t> from_store = 0;
  on_ranks([&](Job& job) {
    write(job, 1);
    VersionReader reader(job);
    choose(reader);
    ASSERT_TRUE(reader.fetch());
    expect_reads(reader, job.rank(), 0, kBytes);
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 0) begin_others();
    ASSERT_TRUE(job.comm().barrier());
    expect_reads(reader, job.rank(), 0, kBytes);
    from_store += reader.bytes_read().store;
    reader.release();
  });
  EXPECT_GT(from_store, 0U);
}

TEST_F(HalfFlushedReading, ADeviceThatFailsSaysNothingOfTheChunk) {
  os::FaultRules broken(*os::parse_fault_rules("fdatasync:/store/app:EIO;pread:/.tmp-:EIO"));
  const test_support::InstalledHooks installed(broken);
  std::atomic<unsigned> failed = 0;
  on_ranks([&](Job& job) {
    write(job, 1);
    VersionReader reader(job);
    choose(reader);
    ASSERT_TRUE(reader.fetch());
    std::vector<std::byte> bytes(kBytes);
    const auto read = reader.read(job.rank(), {0, kBytes}, bytes);
    if (!read) {
      EXPECT_EQ(read.error().code, PERDURE_IO) << read.error().text();
      ++failed;
    }
    reader.release();
  });
  EXPECT_GT(failed, 0U);
}

class MuchRedundancy : public VersionReading {
 protected:
  MuchRedundancy() {
    per_node_ = 1;
    more_ = "redundancy.scheme=partner";
  }
  void keep_much(int node) const {
    const auto entries = os::list_directory(directory_.path() + "/node");
    ASSERT_TRUE(entries) << entries.error().text();
    for (const auto& entry : *entries)
      if (entry.name.starts_with(key_of_node(node))) {
        ASSERT_TRUE(engine::keep_much(directory_.path() + "/node/" + entry.name, "app", kChunk));
      }
  }
};

TEST_F(MuchRedundancy, IsToldWhereItIsNeeded) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    write(job, 1);
    ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
  });
  lose_node(3);
  keep_much(0);
  on_ranks([&](Job& job) {
    const auto reply = job.engine().channel().call(ipc::Inventory{"app", true});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(holdings_to_tell(*reply, 0, 4).shares.has_value(), job.rank() != 0) << "node 0 has too much";
    VersionReader reader(job);
    choose(reader);
    EXPECT_EQ(reader.id().version, 1U);
    ASSERT_TRUE(reader.fetch());
    expect_reads(reader, job.rank(), 0, kBytes);
    reader.release();
  });
}

// A file system that is unmounted between two calls must not make a version look as if it had never been there.
TEST_F(VersionReading, SaysThatAStoreVanishedNotThatThereIsNothing) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 1));
    const auto code_of = [&](std::int64_t version) {
      VersionReader reader(job);
      const auto status = reader.choose({Operation::restore, "app", version}, {});
      return status ? PERDURE_OK : status.error().code;
    };
    EXPECT_EQ(code_of(7), PERDURE_MISMATCH);
    if (job.rank() == 0) std::filesystem::rename(directory_ / "store", directory_ / "away");
    ASSERT_TRUE(job.comm().barrier());
    EXPECT_EQ(code_of(7), PERDURE_UNAVAILABLE);
    EXPECT_EQ(code_of(1), PERDURE_OK) << "the tiers have it";
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 0) std::filesystem::rename(directory_ / "away", directory_ / "store");
    ASSERT_TRUE(job.comm().barrier());
    EXPECT_EQ(code_of(7), PERDURE_MISMATCH);
  });
}

TEST_F(VersionReading, PassesNothingOverThatIsThereWhenItIsChosenAgain) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 1));
    wait_for_store(job, write(job, 2));
  });
  for (const char* part : {"/node", "/file"}) std::filesystem::remove_all(directory_.path() + part);
  const std::string there = directory_ / "store/app/2", away = directory_ / "away";
  std::vector<std::filesystem::path> segments;
  for (const auto& entry : std::filesystem::directory_iterator(there)) segments.push_back(entry.path());
  ASSERT_EQ(segments.size(), 2U);
  std::filesystem::rename(segments[0], away);
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader);
    EXPECT_EQ(reader.id().version, 1U);
    EXPECT_EQ(reader.passed_over().size(), 1U);
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 0) std::filesystem::rename(away, segments[0]);
    ASSERT_TRUE(job.comm().barrier());
    choose(reader);
    EXPECT_EQ(reader.id().version, 2U);
    EXPECT_TRUE(reader.passed_over().empty()) << passed_over_text(reader.passed_over());
    reader.release();
  });
}

TEST_F(VersionReading, RestoresToATargetThatIsNoMemory) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 0));
    VersionReader reader(job);
    choose(reader);
    const std::uint32_t rank = elsewhere(job);
    capture::CollectingTarget all;
    const auto needed = all.accept((*reader.locate(rank))->regions);
    ASSERT_TRUE(needed);
    ASSERT_TRUE(reader.restore(rank, *needed, all));
    ASSERT_EQ(all.bytes_written(), kBytes);
    EXPECT_TRUE(all.agrees_with(expected(rank, 0, kBytes)));
    // Unneeded chunks are not read.
    capture::CollectingTarget some({{10, 5}, {3 * kChunk + 1, 1}});
    const std::uint64_t before = reader.bytes_read().store;
    ASSERT_TRUE(reader.restore(rank, some.accept((*reader.locate(rank))->regions).value(), some));
    EXPECT_EQ(some.bytes_written(), kChunk + (kBytes - 3 * kChunk));
    EXPECT_EQ(reader.bytes_read().store - before, kChunk + (kBytes - 3 * kChunk));
    reader.release();
  });
}

/// Waits for some bytes, one after the other.
class AwaitedBytes : public capture::CollectingTarget {
 public:
  explicit AwaitedBytes(std::vector<std::uint64_t> awaited, std::size_t ahead_from = ~std::size_t{0})
      : awaited_(std::move(awaited)), ahead_from_(ahead_from) {}
  bool is_read_ahead() const override { return order.size() >= ahead_from_; }
  std::optional<std::uint64_t> wanted() override {
    if (order.size() >= awaited_.size()) return std::nullopt;
    return awaited_[order.size()];
  }
  base::Status write(capture::ChunkRange range, base::ConstByteSpan bytes) override {
    order.push_back(range.begin);
    return CollectingTarget::write(range, bytes);
  }
  std::vector<std::uint64_t> order;  // chunks in the order of their first bytes

 private:
  std::vector<std::uint64_t> awaited_;
  std::size_t ahead_from_;  // chunks are read ahead when so many were written
};

TEST_F(VersionReading, BringsTheChunkThatIsWaitedForFirst) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 0));
    VersionReader reader(job);
    choose(reader);
    const auto order_of = [&](std::vector<std::uint64_t> awaited) {
      AwaitedBytes target(std::move(awaited));
      EXPECT_TRUE(reader.restore(job.rank(), target.accept((*reader.locate(job.rank()))->regions).value(), target));
      EXPECT_EQ(target.bytes_written(), kBytes);
      for (auto& begin : target.order) begin /= kChunk;
      return target.order;
    };
    using Order = std::vector<std::uint64_t>;
    EXPECT_EQ(order_of({}), (Order{0, 1, 2, 3}));
    EXPECT_EQ(order_of({3 * kChunk + 1, kChunk}), (Order{3, 1, 0, 2}));
    EXPECT_EQ(order_of({2 * kChunk, 2 * kChunk + 1}), (Order{2, 0, 1, 3})) << "it is there already";
    EXPECT_EQ(order_of({kBytes}), (Order{0, 1, 2, 3})) << "no byte of it";
    reader.release();
  });
}

TEST_F(VersionReading, ReadsTheNextChunkWhileOneIsWritten) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 0));
    VersionReader reader(job);
    choose(reader);
    using Order = std::vector<std::uint64_t>;
    for (const std::uint32_t rank : {job.rank(), elsewhere(job)}) {  // from slots, and from the store
      const auto bytes = expected(rank, 0, kBytes);
      const auto order_of = [&](std::vector<std::uint64_t> awaited, std::size_t ahead_from) {
        AwaitedBytes target(std::move(awaited), ahead_from);
        EXPECT_TRUE(reader.restore(rank, target.accept((*reader.locate(rank))->regions).value(), target));
        EXPECT_EQ(target.bytes_written(), kBytes);
        EXPECT_TRUE(target.agrees_with(bytes));
        for (auto& begin : target.order) begin /= kChunk;
        return target.order;
      };
      for (const std::size_t from : {0, 1, 2, 3, 4}) EXPECT_EQ(order_of({}, from), (Order{0, 1, 2, 3})) << from;
      EXPECT_EQ(order_of({3 * kChunk + 1, kChunk}, 0), (Order{3, 0, 1, 2})) << "who waits is asked a chunk before";
    }
    reader.release();
  });
}

/// Data that comes cannot be written, or fails verification.
TEST_F(VersionReading, EndsWhileAChunkIsReadAhead) {
  class Full : public AwaitedBytes {
   public:
    Full() : AwaitedBytes({}, 0) {}
    base::Status write(capture::ChunkRange range, base::ConstByteSpan bytes) override {
      if (range.begin >= kChunk) return base::fail(PERDURE_NO_SPACE, "target", "full");
      return AwaitedBytes::write(range, bytes);
    }
  };
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 0));
    VersionReader reader(job);
    choose(reader);
    damage_slot(job, reader.id(), job.rank(), 2);
    const std::uint64_t slots = reader.bytes_read().slots, store = reader.bytes_read().store;
    AwaitedBytes repaired({}, 0);
    EXPECT_TRUE(reader.restore(job.rank(), repaired.accept((*reader.locate(job.rank()))->regions).value(), repaired));
    EXPECT_EQ(repaired.bytes_written(), kBytes);
    EXPECT_TRUE(repaired.agrees_with(expected(job.rank(), 0, kBytes)));
    EXPECT_EQ(reader.bytes_read().slots - slots, kBytes - kChunk);
    EXPECT_EQ(reader.bytes_read().store - store, kChunk) << "whose slot is damaged";
    Full target;
    const auto full = reader.restore(job.rank(), target.accept((*reader.locate(job.rank()))->regions).value(), target);
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, PERDURE_NO_SPACE);
    EXPECT_EQ(target.order, std::vector<std::uint64_t>{0});
    reader.release();
  });
}

TEST_F(VersionReading, RefusesToFillMemoryFromWhatWasNone) {
  on_ranks([&](Job& job) { wait_for_store(job, write(job, 0)); });
  test_support::ThreadGroup group(ranks_);
  group.run([&](const perdure_communicator& c) {
    auto session = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
    ASSERT_TRUE(session) << session.error().text();
    std::vector<std::byte> memory(kBytes - kBytes / 4);
    ASSERT_TRUE((*session)->protect({8, memory.data(), 1, memory.size()}));
    const auto status = (*session)->restore("app", -1, {});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, PERDURE_MISMATCH);
    EXPECT_NE(status.error().text().find("it is protected as memory of one rank, and was stored as opaque"),
              std::string::npos);
    EXPECT_EQ(memory, std::vector<std::byte>(memory.size())) << "nothing was touched";
    EXPECT_TRUE((*session)->close());
  });
}

class RestoreCollectives : public JobOfThreads {
 protected:
  RestoreCollectives() { per_node_ = 1, ranks_ = 3; }
  /// Counts the exchanges of a restore of the newest version on rank 0, until the first byte was there. That leaves out
  /// the agreement at the end, the end of the call, and, with redundancy, the agreement on it.
  unsigned count() {
    std::vector<unsigned> counts(static_cast<std::size_t>(ranks_));
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      unsigned& count = counts[static_cast<std::size_t>(c.rank)];
      auto session = Session::open(std::make_unique<comm::CountingCommunicator>(comm::make_from_c(c).value(), count),
                                   options(more_).c_str());
      ASSERT_TRUE(session) << session.error().text();
      std::vector<std::uint64_t> memory(30'000);
      ASSERT_TRUE((*session)->protect({1, reinterpret_cast<std::byte*>(memory.data()), 8, memory.size()}));
      count = 0;
      const auto status = (*session)->restore("app", -1, {});
      const unsigned needed = count;
      ASSERT_TRUE(status) << status.error().text();
      for (std::size_t i = 0; i < memory.size(); ++i) ASSERT_EQ(memory[i], i * (static_cast<unsigned>(c.rank) + 3));
      perdure_progress progress{};
      ASSERT_TRUE((*session)->progress(progress));
      sources_[static_cast<std::size_t>(c.rank)] = progress.restore_source;
      EXPECT_TRUE((*session)->close());
      count = needed;
    });
    for (const unsigned each : counts) EXPECT_EQ(each, counts[0]);
    return counts[0] - (more_.empty() ? 2 : 3);
  }
  void checkpoint() {
    // With redundancy, nothing gets to the store: an engine that has stored everything leaves nothing on its node.
    os::FaultRules full(
        *os::parse_fault_rules("pwrite:" + (more_.empty() ? "nothing" : directory_ / "store") + ":ENOSPC"));
    const test_support::InstalledHooks installed(full);
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      auto session = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
      ASSERT_TRUE(session) << session.error().text();
      std::vector<std::uint64_t> memory(30'000);
      for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = i * (static_cast<unsigned>(c.rank) + 3);
      ASSERT_TRUE((*session)->protect({1, reinterpret_cast<std::byte*>(memory.data()), 8, memory.size()}));
      for (int version = 0; version < 3; ++version) ASSERT_TRUE((*session)->checkpoint("app", version));
      const int level = more_.empty() ? PERDURE_LEVEL_STORE : PERDURE_LEVEL_NODE;
      const auto reached = (*session)->wait("app", 2, level, 60);
      ASSERT_TRUE(reached) << reached.error().text();
      // There is no close(): it is as if the program had died.
    });
  }
  std::vector<int> sources_ = std::vector<int>(3);
};

TEST_F(RestoreCollectives, AreFourWithoutRedundancy) {
  checkpoint();
  EXPECT_EQ(count(), 4U);
}

TEST_F(RestoreCollectives, AreFourWithRedundancyWhereNothingIsLost) {
  more_ = "redundancy.scheme=partner";
  checkpoint();
  EXPECT_EQ(count(), 4U);
}

inline constexpr unsigned kMostCollectivesBeforeFirstByte = 5;

// There is one more: all agree that the lost data is there again. Engines ask each other for it.
TEST_F(RestoreCollectives, AreFiveWhereANodeIsLost) {
  more_ = "redundancy.scheme=partner";
  checkpoint();
  lose_node(1);
  EXPECT_EQ(count(), kMostCollectivesBeforeFirstByte);
  EXPECT_EQ(sources_[1] & 4, 4) << "it came from other nodes";
}

}  // namespace
}  // namespace perdure::client
