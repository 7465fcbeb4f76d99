// Checks every state that a power failure may leave on the disk while a log is written, synced and compacted.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "catalog/catalog.hpp"
#include "support/crash_states.hpp"
#include "support/sample_records.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::catalog {
namespace {

using test_support::CrashState;
using test_support::described;
using test_support::OperationLog;
using test_support::sample_id;
using test_support::sample_stage;
using test_support::TemporaryDirectory;

/// Appends records, and remembers every state.
class Recorded {
 public:
  explicit Recorded(const std::string& path) : log_(path), catalog_(Catalog::open(path).value()) {
    history_.push_back(described(catalog_.state()));
  }
  void append(const Record& record) {
    ASSERT_TRUE(catalog_.append(record));
    history_.push_back(described(catalog_.state()));
  }
  void sync() {
    ASSERT_TRUE(catalog_.sync());
    promise();
  }
  void compact() {
    ASSERT_TRUE(catalog_.compact());
    promise();
  }
  /// Appends, and promises if `synced`, while the snapshot is written, and before the new log's name is durable.
  void compact_beside(std::uint64_t version, bool synced) {
    Compaction compaction = catalog_.begin_compaction();
    checkpoint(version);
    if (synced) sync();
    const auto written = compaction.write();
    checkpoint(version + 1);
    ASSERT_TRUE(catalog_.finish_compaction(compaction, written));
    checkpoint(version + 2);
    if (synced) sync();
    ASSERT_TRUE(compaction.sync_name());
  }
  /// Records the life of a version: two ranks stage it, it is committed and stored, and the one before is released.
  void checkpoint(std::uint64_t version) {
    const auto id = sample_id(version);
    append(sample_stage(id, 0, 2));
    append(sample_stage(id, 1, 2));
    append(CommitRecord{id, {{0, 1, {0, 1}, false}}});
    append(StoredRecord{id, 0});
    if (version % 2 == 0) append(QuarantineRecord{id, 1, 0, "its hash is wrong"});
    if (version > 1) append(DropRecord{sample_id(version - 1)});
  }
  const OperationLog& log() const { return log_; }

  /// Returns "" if `state` is one of the recorded ones, and not older than the promised one.
  std::string judge(const State& state, const CrashState& crash) const {
    const std::size_t least = crash.promises.empty() ? 0 : std::stoul(crash.promises.back());
    const base::Json found = described(state);
    for (std::size_t i = least; i < history_.size(); ++i)
      if (history_[i] == found) return {};
    return "not a state that there was since record " + std::to_string(least) + ": " + found.dump();
  }

 private:
  void promise() { log_.mark(std::to_string(history_.size() - 1)); }
  OperationLog log_;
  Catalog catalog_;
  std::vector<base::Json> history_;
};

void expect_consistent(const Recorded& recorded) {
  const std::size_t states = test_support::for_each_crash_state(recorded.log(), [&](const CrashState& crash) {
    TemporaryDirectory disk;
    crash.image.write_to(disk.path());
    const Record next = sample_stage(sample_id(77), 0, 1);
    State expected;
    {
      auto catalog = Catalog::open(disk.path());
      ASSERT_TRUE(catalog) << catalog.error().text() << ", " << crash.description;
      EXPECT_EQ(recorded.judge(catalog->state(), crash), "") << crash.description;
      EXPECT_FALSE(os::exists(disk.path() + "/catalog.new").value()) << crash.description;
      ASSERT_TRUE(catalog->append(next)) << crash.description;
      expected = catalog->state();
    }
    // Life goes on: records appended after the crash are there, too.
    auto again = Catalog::open(disk.path());
    ASSERT_TRUE(again) << crash.description;
    EXPECT_EQ(described(again->state()), described(expected)) << crash.description;
    EXPECT_TRUE(again->replay_report().damage.empty()) << crash.description;
  });
  EXPECT_GT(states, 20U);
}

TEST(CatalogCrashConsistency, AppendsAndSyncs) {
  TemporaryDirectory directory;
  Recorded recorded(directory.path());
  recorded.append(TierRecord{0, "memory", 1});
  recorded.sync();
  for (std::uint64_t version = 1; version <= 3; ++version) {
    recorded.checkpoint(version);
    if (version != 2) recorded.sync();
  }
  expect_consistent(recorded);
}

TEST(CatalogCrashConsistency, Compactions) {
  TemporaryDirectory directory;
  Recorded recorded(directory.path());
  recorded.append(TierRecord{0, "memory", 1});
  for (std::uint64_t version = 1; version <= 3; ++version) {
    recorded.checkpoint(version);
    recorded.compact();
  }
  recorded.checkpoint(4);
  recorded.sync();
  recorded.checkpoint(5);
  expect_consistent(recorded);
}

TEST(CatalogCrashConsistency, CompactionsBesideAppends) {
  for (const bool synced : {true, false}) {
    TemporaryDirectory directory;
    Recorded recorded(directory.path());
    recorded.checkpoint(1);
    recorded.sync();
    recorded.compact_beside(2, synced);
    recorded.checkpoint(5);
    recorded.sync();
    expect_consistent(recorded);
  }
}

TEST(CatalogCrashConsistency, ALogThatIsOpenedAgainAndGoesOn) {
  TemporaryDirectory directory;
  {
    Catalog first = Catalog::open(directory.path()).value();
    ASSERT_TRUE(first.append(TierRecord{0, "memory", 1}));
    ASSERT_TRUE(first.append(sample_stage(sample_id(1), 0, 2)));
  }
  Recorded recorded(directory.path());
  recorded.checkpoint(2);
  recorded.sync();
  recorded.append(TierRecord{0, "memory", 2});  // the tier's content is gone
  recorded.checkpoint(3);
  recorded.compact();
  expect_consistent(recorded);
}

}  // namespace
}  // namespace perdure::catalog
