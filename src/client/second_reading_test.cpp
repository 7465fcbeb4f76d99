// A reader sees damage where there is none: nothing is set aside because of it alone.
#include "client/second_reading.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "client/levels.hpp"
#include "client/ranks_testing.hpp"
#include "os/hooks.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

TEST(SecondReader, IsOnAnotherNodeWhereThereIsOne) {
  EXPECT_EQ(second_reader({0, 0, 1, 1}, 0), 2U);
  EXPECT_EQ(second_reader({0, 0, 1, 1}, 3), 0U);
  EXPECT_EQ(second_reader({0, 0, 0}, 2), 2U);
  EXPECT_EQ(second_reader({0}, 0), 0U);
}

/// Memory that changes the first byte of data read from the store, on the threads that ask for it, so many times.
class BadMemory : public os::Hooks {
 public:
  void after(const os::Operation& operation, int error_number) override {
    const bool stored = std::string_view(operation.call) == "pread" && operation.path.ends_with(".pds");
    if (!stored || error_number != 0 || reads_left == 0 || operation.target.empty()) return;
    --reads_left;
    ++spoilt;
    operation.target[0] ^= std::byte{1};
  }
  static thread_local unsigned reads_left;
  std::atomic<unsigned> spoilt = 0;
};
thread_local unsigned BadMemory::reads_left = 0;
constexpr unsigned kAlways = ~0U;

class SecondReading : public JobOfThreads {
 protected:
  /// Damages the chunks of one segment.
  void damage_stored() const {
    const auto store = store::make_store(directory_ / "store").value();
    const auto segment = store->list("app").value().at(0).segments.at(0);
    const auto file = os::File::open(directory_ / "store/" + segment.path, os::Open::read_write).value();
    ASSERT_TRUE(file.write(300, std::vector<std::byte>(1, std::byte{7})));
  }
  static std::string reports_of(Job& job) {
    std::string reports;
    for (auto next = next_report(job); next; next = next_report(job)) reports += *next + "\n";
    return reports;
  }
  /// Stores a version that only the store has.
  void store_one() {
    on_ranks([&](Job& job) { wait_for_store(job, write(job, 1)); });
    forget_nodes();
  }
  void forget_nodes() const {
    for (const std::string part : {"/node", "/file"}) {
      const bool there = os::exists(directory_.path() + part).value();
      ASSERT_TRUE(!there || os::remove_tree(directory_.path() + part));
    }
  }
  void expect_nothing_set_aside() const {
    const auto store = store::make_store(directory_ / "store").value();
    EXPECT_TRUE(store->set_aside("app").value().empty());
    EXPECT_TRUE(store::read_version(*store, store->list("app").value().at(0)));
  }
};

TEST_F(SecondReading, OneReaderOfManifestsWithBadMemoryEmptiesNoStore) {
  store_one();
  BadMemory memory;
  const test_support::InstalledHooks installed(memory);
  on_ranks([&](Job& job) {
    BadMemory::reads_left = job.rank() == 0 ? kAlways : 0;
    VersionReader reader(job);
    choose(reader);
    EXPECT_EQ(reader.id().version, 1U);
    if (job.rank() == 2) {
      const std::string reports = reports_of(job);
      EXPECT_NE(reports.find("only one reader saw"), std::string::npos) << reports;
    }
    BadMemory::reads_left = 0;
    expect_reads(reader, job.rank(), 0, kBytes);
    reader.release();
  });
  EXPECT_GT(memory.spoilt, 0U);
  expect_nothing_set_aside();
}

TEST_F(SecondReading, OfADirectoryThatWasRenamedIsNoDamage) {
  store_one();
  ASSERT_TRUE(os::rename_path(directory_ / "store/app", directory_ / "store/other"));
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    const auto chosen = reader.choose({Operation::restore, "other", -1}, {});
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, PERDURE_MISMATCH);
    EXPECT_NE(chosen.error().text().find("perdure rename app other"), std::string::npos) << chosen.error().text();
  });
  const auto store = store::make_store(directory_ / "store").value();
  EXPECT_TRUE(store->set_aside("other").value().empty());
  ASSERT_TRUE(os::rename_path(directory_ / "store/other", directory_ / "store/app"));
  expect_nothing_set_aside();
}

TEST_F(SecondReading, OfDamageThatIsThereSetsItAside) {
  store_one();
  damage_stored();
  const auto store = store::make_store(directory_ / "store").value();
  for (int launch = 0; launch < 2; ++launch) {
    on_ranks([&](Job& job) {
      for (int call = 0; call < 2; ++call) {
        VersionReader reader(job);
        const auto chosen = reader.choose({Operation::restore, "app", -1}, {});
        ASSERT_FALSE(chosen);
        EXPECT_EQ(chosen.error().code, PERDURE_CORRUPT) << chosen.error().text();
        EXPECT_NE(chosen.error().text().find(store->set_aside("app").value().at(0).path), std::string::npos)
            << chosen.error().text();
      }
    });
    forget_nodes();
  }
}

class NoQuarantine : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    return operation.path.find(".quarantine") == std::string::npos ? 0 : EACCES;
  }
};

TEST_F(SecondReading, DamageThatCannotBeSetAsideIsReported) {
  store_one();
  damage_stored();
  NoQuarantine hooks;
  const test_support::InstalledHooks installed(hooks);
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    EXPECT_FALSE(reader.choose({Operation::restore, "app", -1}, {}));
    if (job.rank() != 2) return;
    const std::string reports = reports_of(job);
    EXPECT_NE(reports.find("a damaged segment could not be set aside"), std::string::npos) << reports;
  });
}

TEST_F(SecondReading, ATableThatWasReadWronglyOnceIsReadAgain) {
  store_one();
  BadMemory memory;
  const test_support::InstalledHooks installed(memory);
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader);
    BadMemory::reads_left = job.rank() == 1 ? 1 : 0;
    const auto located = reader.locate(job.rank());
    EXPECT_TRUE(located) << located.error().text();
    reader.release();
  });
  EXPECT_EQ(memory.spoilt, 1U);
}

// A chunk is wrong twice on one rank, and good on another node: the same version is read once more.
TEST_F(SecondReading, AChunkThatOneRankCannotReadIsReadAgain) {
  store_one();
  BadMemory memory;
  const test_support::InstalledHooks installed(memory);
  std::atomic<unsigned> failures = 0;
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader);
    ASSERT_TRUE(reader.locate(job.rank()));
    std::vector<std::byte> bytes(kChunk);
    BadMemory::reads_left = job.rank() == 1 ? kAlways : 0;
    if (!reader.read(job.rank(), {0, kChunk}, bytes)) ++failures;
    const auto suspected = reader.read_again();  // the bad memory stays as it is: its rank is not the one that judges
    BadMemory::reads_left = 0;
    ASSERT_TRUE(suspected);
    EXPECT_TRUE(*suspected);
    choose(reader);
    expect_reads(reader, job.rank(), 0, kBytes);
    const auto clean = reader.read_again();
    ASSERT_TRUE(clean);
    EXPECT_FALSE(*clean);
    reader.release();
  });
  EXPECT_EQ(failures, 1U);
  expect_nothing_set_aside();
}

TEST_F(SecondReading, ASegmentOfAnotherVersionInItsPlaceIsNotTakenForIt) {
  on_ranks([&](Job& job) {
    for (const int version : {1, 2}) wait_for_store(job, write(job, version));
  });
  forget_nodes();
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader, 1);
    if (job.rank() == 0) {
      std::map<std::uint64_t, std::vector<store::SegmentRef>> segments;
      const auto listings = job.store().list("app").value();
      for (const auto& listing : listings) segments[listing.id.version] = listing.segments;
      ASSERT_EQ(segments[1].size(), segments[2].size());
      for (std::size_t i = 0; i < segments[1].size(); ++i) {
        const auto other = os::read_file(directory_ / "store/" + segments[2][i].path, base::MiB * 16).value();
        const auto file = os::File::open(directory_ / "store/" + segments[1][i].path, os::Open::read_write).value();
        ASSERT_TRUE(file.write(0, other));
      }
    }
    ASSERT_TRUE(job.comm().barrier());
    const auto located = reader.locate(job.rank());
    ASSERT_FALSE(located);
    EXPECT_EQ(located.error().code, PERDURE_CORRUPT) << located.error().text();
    reader.release();
  });
}

}  // namespace
}  // namespace perdure::client
