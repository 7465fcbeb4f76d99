// Tests that appended records survive any death, and that damage costs only the records it hit.
#include "catalog/catalog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/json.hpp"
#include "os/fault_rules.hpp"
#include "os/hooks.hpp"
#include "support/installed_hooks.hpp"
#include "support/sample_records.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::catalog {
namespace {

using namespace std::string_literals;
using segment::VersionId;
using test_support::described;
using test_support::fold;
using test_support::sample_id;
using test_support::sample_log;
using test_support::sample_records;
using test_support::sample_redundancy_set;
using test_support::sample_stage;
using test_support::TemporaryDirectory;

using Bytes = std::vector<std::byte>;

class CatalogFile : public testing::Test {
 protected:
  Catalog open() {
    auto catalog = Catalog::open(directory_.path());
    if (!catalog) ADD_FAILURE() << catalog.error().text();
    return catalog ? std::move(*catalog) : Catalog();
  }
  void append_samples() {
    Catalog catalog = open();
    for (const Record& record : sample_records()) ASSERT_TRUE(catalog.append(record));
  }
  Bytes content() { return os::read_file(path_, 1 << 26).value(); }
  void set_content(const Bytes& bytes) {
    auto file = os::File::open(path_, os::Open::create).value();
    ASSERT_TRUE(file.truncate(0));
    ASSERT_TRUE(file.write(0, bytes));
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/catalog";
};

/// Fails the next call of one kind.
class FailOnce : public os::Hooks {
 public:
  FailOnce(std::string call, int error) : call_(std::move(call)), error_(error) { os::install_hooks(this); }
  ~FailOnce() override { os::install_hooks(nullptr); }
  int before(const os::Operation& operation) override { return operation.call == call_ ? std::exchange(error_, 0) : 0; }

 private:
  std::string call_;
  int error_;
};

/// Counts the calls of one kind.
class CallCount : public os::Hooks {
 public:
  explicit CallCount(std::string call) : call_(std::move(call)) { os::install_hooks(this); }
  ~CallCount() override { os::install_hooks(nullptr); }
  int before(const os::Operation& operation) override {
    if (operation.call == call_) ++count_;
    return 0;
  }
  unsigned count() const { return count_; }

 private:
  std::string call_;
  unsigned count_ = 0;
};

/// A small file system of its own for the log, filled up to the last byte.
class CatalogOnAFullFileSystem : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(os::make_directory(small_));
    const std::string mount = "mount -t tmpfs -o size=4m none " + small_ + " 2>/dev/null";
    if (::geteuid() != 0 || std::system(mount.c_str()) != 0) GTEST_SKIP() << "may not mount";
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) {
      EXPECT_EQ(std::system(("umount " + small_).c_str()), 0);
    }
  }
  void fill() {
    const auto file = os::File::open(small_ + "/slots", os::Open::create).value();
    const Bytes page(4096);
    for (std::uint64_t at = 0; file.write(at, page); at += page.size()) {
    }
  }
  static VersionId long_id(std::uint64_t version) { return sample_id(version, std::string(128, 'n')); }
  TemporaryDirectory directory_;
  const std::string small_ = directory_ / "small";
  bool mounted_ = false;
};

// Each release is recorded first. That must be possible even when slots have taken all room.
TEST_F(CatalogOnAFullFileSystem, EverythingCanBeGivenUp) {
  constexpr std::uint64_t kVersions = 200;
  Catalog catalog = Catalog::open(small_).value();
  for (std::uint64_t version = 0; version < kVersions; ++version)
    ASSERT_TRUE(catalog.append(sample_stage(long_id(version), 0, 1)));
  fill();
  std::size_t more = kVersions;  // the room reserved ahead is used up first
  while (catalog.append(sample_stage(long_id(more), 0, 1))) ++more;
  EXPECT_EQ(catalog.append(sample_stage(long_id(more), 0, 1)).error().code, PERDURE_NO_SPACE);
  for (std::uint64_t version = 0; version < more; ++version) {
    ASSERT_TRUE(catalog.append(CommitRecord{long_id(version), {{0, 1, {0}, false}}})) << version;
    ASSERT_TRUE(catalog.append(StoredRecord{long_id(version), 0})) << version;
    ASSERT_TRUE(catalog.append(DropRecord{long_id(version)})) << version << " of " << more;
  }
  EXPECT_TRUE(catalog.state().versions.empty());
  ASSERT_TRUE(os::remove_file(small_ + "/slots"));
  EXPECT_TRUE(catalog.append(sample_stage(long_id(more), 0, 1)));
  const Catalog again = Catalog::open(small_).value();
  EXPECT_EQ(again.state().versions.size(), 1U);
  EXPECT_EQ(again.replay_report().torn_bytes, 0U) << "room that is reserved is no record";
}

TEST_F(CatalogOnAFullFileSystem, CompactionLeavesRoomOrTheLogAsItWas) {
  Catalog catalog = Catalog::open(small_).value();
  for (std::uint64_t version = 0; version < 100; ++version)
    ASSERT_TRUE(catalog.append(sample_stage(long_id(version), 0, 1)));
  ASSERT_TRUE(catalog.compact());
  fill();
  EXPECT_EQ(catalog.compact().error().code, PERDURE_NO_SPACE);
  for (std::uint64_t version = 0; version < 100; ++version) ASSERT_TRUE(catalog.append(DropRecord{long_id(version)}));
}

TEST_F(CatalogOnAFullFileSystem, AnEngineThatStartsThereCanGiveUpWhatAnEarlierOneHeld) {
  {
    Catalog catalog = Catalog::open(small_).value();
    for (std::uint64_t version = 0; version < 100; ++version)
      ASSERT_TRUE(catalog.append(sample_stage(long_id(version), 0, 1)));
    fill();
  }
  Catalog catalog = Catalog::open(small_).value();
  for (std::uint64_t version = 0; version < 100; ++version) ASSERT_TRUE(catalog.append(DropRecord{long_id(version)}));
}

// It would be acknowledged, and lost at the next start.
TEST_F(CatalogFile, TakesNoRecordThatReplayWouldSkip) {
  const auto id = sample_id(1), nameless = sample_id(1, "");
  StageRecord beyond = sample_stage(id, 1, 2);
  beyond.ranks = 1;
  StageRecord regionless = sample_stage(id, 0, 1);
  regionless.piece.regions.clear();
  RedundancyRecord of_regionless{sample_redundancy_set(id, 5)};
  of_regionless.redundancy_set.members[1][0].regions.clear();
  RedundancyRecord of_no_group{sample_redundancy_set(id, 5)};
  of_no_group.redundancy_set.position = 3;
  RedundancyRecord of_a_far_block{sample_redundancy_set(id, 5)};
  of_a_far_block.redundancy_set.kept[{1, 64}] = {79, 904, base::hash128({}), 0};
  SupersededRecord of_many{"nbody", 1, {}};
  for (std::uint64_t ns = 0; ns <= SupersededRecord::kMostKept; ++ns) of_many.keep.insert(ns);
  const std::vector<Record> wrongs = {beyond,
                                      regionless,
                                      of_regionless,
                                      of_no_group,
                                      of_a_far_block,
                                      of_many,
                                      sample_stage(nameless, 0, 1),
                                      CommitRecord{id, {{2, 2, {0}, false}}},
                                      CommitRecord{nameless, {{0, 1, {0}, false}}},
                                      BegunRecord{id, {{2, 2, {0}, false}}},
                                      SpilledRecord{nameless, 0, {}},
                                      StoredRecord{nameless, 0},
                                      GoneRecord{nameless, 0},
                                      IncarnationRecord{"", 4711},
                                      DropRecord{nameless},
                                      QuarantineRecord{nameless, 0, 0, "damaged"},
                                      RedundancyRecord{sample_redundancy_set(nameless, 5)},
                                      ReachedRecord{{nameless, 5}},
                                      BadBlockRecord{{nameless, 5}, {1, 0}, "damaged"},
                                      BadBlockRecord{{id, 5}, {1, 64}, "damaged"},
                                      DropRedundancyRecord{{nameless, 5}},
                                      SupersededRecord{"", 1, {}}};
  append_samples();
  Catalog catalog = open();
  const auto before = described(catalog.state());
  for (const Record& record : wrongs) {
    EXPECT_FALSE(record_from_json(to_json(record), "log")) << to_json(record);
    const auto refused = catalog.append(record);
    ASSERT_FALSE(refused) << to_json(record);
    EXPECT_EQ(refused.error().code, PERDURE_INTERNAL);
    EXPECT_EQ(described(catalog.state()), before);
  }
  EXPECT_TRUE(open().replay_report().damage.empty());
}

TEST_F(CatalogFile, ReplaysWhatWasAppended) {
  append_samples();
  const Catalog catalog = open();
  EXPECT_EQ(described(catalog.state()), described(fold(sample_records())));
  EXPECT_EQ(catalog.replay_report().records, sample_records().size());
  EXPECT_EQ(catalog.replay_report().torn_bytes, 0U);
  EXPECT_TRUE(catalog.replay_report().damage.empty());
}

// The beginning of the worked example in docs/format/catalog.md: existing logs must stay readable.
TEST_F(CatalogFile, TheBytesAreThoseOfTheFormatPage) {
  const std::string page =
      "PDCATLG1"
      "PDCR\x2e\0\0\0\x87\x79\x02\x2c\x66\x0e\xf8\xe7"
      "\xa4\x6bincarnation\x19\x12\x67\x64name\x66memory\x66record\x64tier\x64tier\0"s;
  ASSERT_TRUE(open().append(TierRecord{0, "memory", 4711}));
  const Bytes bytes = content();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), page);
}

TEST_F(CatalogFile, ReplaysATornTailAsIfItWereNotThere) {
  auto records = sample_records();
  const Bytes whole = sample_log(records);
  const Record last = records.back();
  records.pop_back();
  const Bytes before = sample_log(records);
  for (std::size_t length = before.size(); length < whole.size(); ++length) {
    set_content(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    {
      Catalog catalog = open();
      EXPECT_EQ(described(catalog.state()), described(fold(records)));
      EXPECT_EQ(catalog.replay_report().torn_bytes, length - before.size());
      EXPECT_TRUE(catalog.replay_report().damage.empty());
      ASSERT_TRUE(catalog.append(last));
    }
    EXPECT_EQ(content(), whole) << "cut at " << length;
  }
}

TEST_F(CatalogFile, AFileThatIsCutInItsMagicIsBegunAnew) {
  const Bytes whole = sample_log({});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    set_content(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_TRUE(open().state().versions.empty());
    EXPECT_EQ(content(), whole);
  }
}

TEST_F(CatalogFile, AForeignFileIsBegunAnewAndReported) {
  set_content(Bytes(5000, std::byte{0x5a}));
  Catalog catalog = open();
  ASSERT_EQ(catalog.replay_report().damage.size(), 1U);
  EXPECT_NE(catalog.replay_report().damage[0].text().find("not a catalog"), std::string::npos);
  ASSERT_TRUE(catalog.append(sample_stage(sample_id(1), 0, 1)));
  EXPECT_EQ(open().state().versions.size(), 1U);
}

TEST_F(CatalogFile, ADamagedMagicCostsNoRecord) {
  append_samples();
  const Bytes whole = content();
  for (std::size_t at = 0; at < 8; ++at) {
    Bytes damaged = whole;
    damaged[at] ^= std::byte{4};
    set_content(damaged);
    const Catalog catalog = open();
    EXPECT_EQ(described(catalog.state()), described(fold(sample_records())));
    EXPECT_EQ(catalog.replay_report().damage.size(), 1U);
    EXPECT_EQ(content(), whole) << "the magic is mended";
  }
}

// Replay would skip it: its content would be lost at the next start, after somebody was told that it is safe.
TEST_F(CatalogFile, ARecordThatReplayWouldSkipIsRefused) {
  auto catalog = open();
  const auto refused = catalog.append(QuarantineRecord{sample_id(1), 0, 0, std::string(65 * base::MiB, 'x')});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_FALSE(refused.error().remedy.empty());
  ASSERT_TRUE(catalog.append(QuarantineRecord{sample_id(1), 0, 0, "x"}));
  EXPECT_EQ(open().replay_report().records, 1U);
  EXPECT_TRUE(open().replay_report().damage.empty());
}

TEST(Compaction, ComesBeforeALargeLogIsFull) {
  EXPECT_FALSE(far_beyond(base::MiB, 3 * base::MiB));
  EXPECT_TRUE(far_beyond(base::MiB, 4 * base::MiB));
  EXPECT_FALSE(far_beyond(400 * base::MiB, 600 * base::MiB));
  EXPECT_TRUE(far_beyond(400 * base::MiB, 700 * base::MiB)) << "four times as much is more than a log may have";
  EXPECT_TRUE(far_beyond(950 * base::MiB, 958 * base::MiB));
}

TEST_F(CatalogFile, AFileLargerThanAnyCatalogIsRefusedWithARemedy) {
  ASSERT_TRUE(os::File::open(path_, os::Open::create).value().truncate(base::GiB + 1));
  auto catalog = Catalog::open(directory_.path());
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, PERDURE_CORRUPT);
  EXPECT_NE(catalog.error().remedy, "");
}

TEST(CatalogSize, WhenALogIsNearlyFullItTakesOnlyWhatGivesUp) {
  constexpr std::uint64_t kMost = base::GiB, kLargest = 64 * base::MiB;  // of a log, and of a record
  for (const bool adds : {false, true}) {
    EXPECT_TRUE(fits_in_log(kMost - kLargest - 1000, 1000, adds));
    EXPECT_EQ(fits_in_log(kMost - kLargest - 999, 1000, adds), !adds);
    EXPECT_EQ(fits_in_log(kMost - 1000, 1000, adds), !adds);
    EXPECT_FALSE(fits_in_log(kMost - 999, 1000, adds));
  }
}

// The record with the bit is lost; all others count. A damaged last record looks like a torn append.
TEST(Replay, AFlippedBitAtAnyByteCostsOneRecordAndMakesNone) {
  const std::vector<Record> records = {TierRecord{0, "memory", 4711}, sample_stage(sample_id(1), 0, 1, 0, 100),
                                       CommitRecord{sample_id(1), {{0, 1, {0}, false}}}, StoredRecord{sample_id(1), 0}};
  const Bytes log = sample_log(records);
  std::size_t number = 0, end = 8 + encode_record(records[0]).size();
  for (std::size_t at = 8; at < log.size(); ++at) {
    if (at == end) end += encode_record(records[++number]).size();
    auto others = records;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(number));
    const base::Json expected = described(fold(others));
    for (int bit = 0; bit < 8; bit += test_support::unless_sanitized(1, 3)) {
      Bytes damaged = log;
      damaged[at] ^= static_cast<std::byte>(1 << bit);
      ReplayReport report;
      std::uint64_t good_end = 0;
      const State state = replay_bytes(damaged, "log", report, good_end);
      EXPECT_EQ(report.records, others.size()) << "byte " << at << " bit " << bit;
      EXPECT_EQ(described(state), expected) << "byte " << at << " bit " << bit;
      EXPECT_EQ(report.damage.size(), number + 1 < records.size() ? 1U : 0U);
      EXPECT_EQ(report.skipped_bytes + report.torn_bytes, encode_record(records[number]).size());
    }
  }
}

TEST(Replay, ARecordThatClaimsMoreThanThereIsIsSteppedOver) {
  const Record good = sample_stage(sample_id(1), 0, 1);
  for (std::uint32_t claim : {0xffffffffU, 64U << 20, 1U << 20}) {
    Bytes log = sample_log({good, good});
    std::memcpy(log.data() + 8 + 4, &claim, sizeof claim);
    ReplayReport report;
    std::uint64_t end = 0;
    EXPECT_EQ(replay_bytes(log, "log", report, end).versions.size(), 1U);
    EXPECT_EQ(end, log.size());
    EXPECT_EQ(report.skipped_bytes, encode_record(good).size());
  }
}

TEST(Replay, AWholeRecordOfUnknownContentIsReportedAndSteppedOver) {
  Bytes log = sample_log({sample_stage(sample_id(1), 0, 1)});
  const Bytes payload = base::encode_cbor({{"record", "of a later release"}});
  const std::uint32_t header[2] = {0x52434450, static_cast<std::uint32_t>(payload.size())};
  const std::uint64_t hash = base::hash64(payload);
  for (const base::ConstByteSpan part : std::initializer_list<base::ConstByteSpan>{
           std::as_bytes(std::span(header)), std::as_bytes(std::span(&hash, 1)), payload})
    log.insert(log.end(), part.begin(), part.end());
  ReplayReport report;
  std::uint64_t end = 0;
  EXPECT_EQ(replay_bytes(log, "log", report, end).versions.size(), 1U);
  EXPECT_EQ(end, log.size());
  ASSERT_EQ(report.damage.size(), 1U);
  EXPECT_NE(report.damage[0].text().find("of a later release"), std::string::npos);
}

TEST_F(CatalogFile, AFailedAppendAppliesNothingAndTheNextTakesItsPlace) {
  Catalog catalog = open();
  ASSERT_TRUE(catalog.append(sample_stage(sample_id(1), 0, 1)));
  {
    FailOnce full("pwrite", ENOSPC);
    auto status = catalog.append(sample_stage(sample_id(2), 0, 1));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, PERDURE_NO_SPACE);
  }
  EXPECT_FALSE(catalog.state().versions.contains(sample_id(2)));
  ASSERT_TRUE(catalog.append(sample_stage(sample_id(3), 0, 1)));
  const Catalog again = open();
  EXPECT_EQ(described(again.state()), described(catalog.state()));
  EXPECT_TRUE(again.replay_report().damage.empty());
}

TEST_F(CatalogFile, AppendsAndReplaysAllOfARecordHoweverLittleTheSystemTakesAtATime) {
  os::FaultRules faults(os::parse_fault_rules("short:" + path_ + ":9").value());
  const test_support::InstalledHooks installed(faults);
  append_samples();
  Catalog catalog = open();
  EXPECT_EQ(catalog.replay_report().records, sample_records().size());
  EXPECT_EQ(described(catalog.state()), described(fold(sample_records())));
  ASSERT_TRUE(catalog.compact());
  const Catalog again = open();
  EXPECT_EQ(described(again.state()), described(fold(sample_records())));
  EXPECT_TRUE(again.replay_report().damage.empty());
}

TEST_F(CatalogFile, CompactionKeepsTheStateAndForgetsTheHistory) {
  Catalog catalog = open();
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(catalog.append(sample_stage(sample_id(i), 0, 1)));
    ASSERT_TRUE(i == 0 || catalog.append(DropRecord{sample_id(i - 1)}));
  }
  const std::size_t before = content().size();
  ASSERT_TRUE(catalog.compact());
  EXPECT_LT(content().size(), before / 20);
  ASSERT_TRUE(catalog.append(CommitRecord{sample_id(49), {{0, 1, {0}, false}}}));
  const Catalog again = open();
  EXPECT_EQ(described(again.state()), described(catalog.state()));
  EXPECT_TRUE(again.state().versions.at(sample_id(49)).committed);
  EXPECT_FALSE(os::exists(path_ + ".new").value());
}

TEST_F(CatalogFile, WhatWasFoundDamagedIsNotUsedAfterACompaction) {
  Catalog catalog = open();
  for (const std::uint32_t rank : {0U, 1U}) ASSERT_TRUE(catalog.append(sample_stage(sample_id(1), rank, 2)));
  ASSERT_TRUE(catalog.append(QuarantineRecord{sample_id(1), 1, 0, "its hash is wrong"}));
  ASSERT_TRUE(catalog.compact());
  const Catalog again = open();
  EXPECT_TRUE(again.state().versions.at(sample_id(1)).restorable(0));
  EXPECT_FALSE(again.state().versions.at(sample_id(1)).restorable(1));
}

TEST_F(CatalogFile, ASmallLogIsNotWorthCompacting) {
  append_samples();
  EXPECT_FALSE(open().worth_compacting());
}

TEST_F(CatalogFile, ALogThatGrewFarBeyondItsStateIsCompacted) {
  Catalog catalog = open();
  const Record long_text = QuarantineRecord{sample_id(1), 0, 0, std::string(base::MiB, 'x')};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(catalog.append(long_text));
  ASSERT_TRUE(catalog.worth_compacting());
  ASSERT_TRUE(catalog.compact());
  EXPECT_LT(content().size(), base::MiB);
  EXPECT_FALSE(catalog.worth_compacting());
}

TEST_F(CatalogFile, RecordsThatComeWhileTheSnapshotIsWrittenAreInTheNewLog) {
  append_samples();
  Catalog catalog = open();
  Compaction compaction = catalog.begin_compaction();
  ASSERT_TRUE(catalog.append(sample_stage(sample_id(8), 0, 1)));
  const auto written = compaction.write();
  ASSERT_TRUE(written);
  ASSERT_TRUE(catalog.append(sample_stage(sample_id(9), 0, 1)));
  EXPECT_TRUE(os::exists(path_ + ".new").value()) << "the old log is in place until the end";
  ASSERT_TRUE(catalog.finish_compaction(compaction, written));
  ASSERT_TRUE(catalog.append(sample_stage(sample_id(10), 0, 1)));
  const Catalog again = open();
  for (const std::uint64_t version : {8, 9, 10}) EXPECT_TRUE(again.state().versions.contains(sample_id(version)));
  EXPECT_EQ(described(again.state()), described(catalog.state()));
  EXPECT_TRUE(again.replay_report().damage.empty());
}

TEST_F(CatalogFile, WhereThereIsNoRoomForMoreOnlyWhatIsNeededIsReserved) {
  Catalog catalog = open();
  const FailOnce hooks("reserve", ENOSPC);
  for (std::uint64_t version = 0; version < 200; ++version)
    ASSERT_TRUE(catalog.append(sample_stage(sample_id(version), 0, 1))) << version;
}

// The room reserved for the old log went with it.
TEST_F(CatalogFile, AfterACompactionRoomIsReservedInTheNewLog) {
  Catalog catalog = open();
  for (std::uint64_t version = 0; version < 200; ++version)
    ASSERT_TRUE(catalog.append(sample_stage(sample_id(version), 0, 1)));
  for (std::uint64_t version = 0; version < 200; ++version) ASSERT_TRUE(catalog.append(DropRecord{sample_id(version)}));
  ASSERT_TRUE(catalog.compact());
  const CallCount reserved("reserve");
  for (std::uint64_t version = 0; version < 200; ++version)
    ASSERT_TRUE(catalog.append(sample_stage(sample_id(version), 0, 1)));
  EXPECT_GT(reserved.count(), 0U);
}

TEST_F(CatalogFile, OneCompactionAtATime) {
  Catalog catalog = open();
  const Record long_text = QuarantineRecord{sample_id(1), 0, 0, std::string(base::MiB, 'x')};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(catalog.append(long_text));
  Compaction compaction = catalog.begin_compaction();
  EXPECT_FALSE(catalog.worth_compacting()) << "one is under way";
  const base::Status failed = base::fail(PERDURE_IO, "catalog.new", "the disk is full");
  EXPECT_FALSE(catalog.finish_compaction(compaction, failed));
  EXPECT_TRUE(catalog.worth_compacting()) << "it failed";
}

// Whichever call of a compaction fails, the log in place is the one that the next append goes to.
TEST_F(CatalogFile, AfterACompactionThatFailedAnywhereAppendsAreStillReplayed) {
  for (const char* call : {"open", "pwrite", "fsync", "rename", "fsync_dir"}) {
    ASSERT_TRUE(os::remove_file(path_));
    Catalog catalog = open();
    for (const Record& record : sample_records()) ASSERT_TRUE(catalog.append(record));
    {
      FailOnce fault(call, EIO);
      auto status = catalog.compact();
      ASSERT_FALSE(status) << call;
      EXPECT_EQ(status.error().code, PERDURE_IO) << call;
    }
    ASSERT_TRUE(catalog.append(sample_stage(sample_id(8), 0, 1)));
    const Catalog again = open();
    EXPECT_TRUE(again.state().versions.contains(sample_id(8))) << call;
    EXPECT_EQ(described(again.state()), described(catalog.state())) << call;
  }
}

}  // namespace
}  // namespace perdure::catalog
