#include "engine/upkeep/janitor.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::engine {
namespace {

using test_support::sample_version;
using test_support::write_segment;

class JanitorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    made = std::move(*store::make_store(directory / "store"));
    ASSERT_TRUE(made->prepare());
  }
  static segment::VersionId id(std::uint64_t version, const std::string& name = "app") {
    return {name, version, {version, 1}};
  }
  void write(std::uint64_t version, std::uint32_t segments = 2, const std::string& name = "app") {
    const auto manifests = sample_version(id(version, name), 2);
    for (std::uint32_t i = 0; i < segments; ++i) ASSERT_TRUE(write_segment(*made, manifests[i])) << version;
  }
  std::unique_ptr<Janitor> start(plan::RetentionPolicy policy) {
    return std::make_unique<Janitor>(*made, reports, policy, [] {});
  }
  static bool settle(Janitor& janitor) {
    return test_support::eventually("nothing is left for the janitor", [&] { return janitor.settled(); });
  }
  std::vector<std::uint64_t> versions(const std::string& name = "app") {
    std::vector<std::uint64_t> found;
    const auto listings = made->list(name);
    for (const auto& listing : *listings) found.push_back(listing.id.version);
    return found;
  }
  test_support::TemporaryDirectory directory;
  Reports reports;
  std::unique_ptr<store::Store> made;
};
using Versions = std::vector<std::uint64_t>;

TEST_F(JanitorTest, DoesNothingBeforeItIsResponsible) {
  for (std::uint64_t version : {1, 2, 3}) write(version);
  auto janitor = start({1, 0});
  janitor->enforce_retention("app");
  EXPECT_TRUE(janitor->idle() && janitor->settled());
  janitor->stop();
  EXPECT_EQ(versions(), (Versions{1, 2, 3}));
}

TEST_F(JanitorTest, TendsTheJobsNamesOnceItIs) {
  for (std::uint64_t version : {1, 2, 3, 4}) write(version);
  auto janitor = start({1, 2});
  janitor->enforce_retention("app");
  janitor->activate();
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{2, 4}));
  EXPECT_EQ(reports.take(), std::nullopt);
}

// Versions 100 to 300 belong to a finished run; a launch that restored nothing wrote 10, 20 and 30.
TEST_F(JanitorTest, KeepsTheRunBeforeANewStart) {
  std::uint64_t begun = 0;
  for (const plan::Branch branch : {1U, 2U})
    for (const std::uint64_t step : {1, 2, 3})
      for (const auto& manifest :
           sample_version({"app", branch == 1 ? 100 * step : 10 * step, {++begun, plan::nonce_on(branch, begun)}}, 2))
        ASSERT_TRUE(write_segment(*made, manifest));
  auto janitor = start({1, 0});
  janitor->enforce_retention("app");
  janitor->activate();
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{30, 100, 200, 300}));
  EXPECT_EQ(reports.take(), std::nullopt);
}

// The version kept of a branch that was left is read before any other is removed for it.
TEST_F(JanitorTest, GivesNothingOfALeftBranchUpForAVersionThatIsDamaged) {
  for (std::uint64_t version = 1; version <= 4; ++version)
    for (const auto& manifest : sample_version({"app", version, {version, plan::nonce_on(1, version)}}, 2))
      ASSERT_TRUE(write_segment(*made, manifest));
  for (const auto& manifest : sample_version({"app", 3, {9, plan::nonce_on(2, 9)}}, 2))
    ASSERT_TRUE(write_segment(*made, manifest));
  ASSERT_TRUE(store::set_forks(*made, "app", {{2, 1, 2, 2}}));
  const std::string newest = directory / "store/app/4";
  for (const auto& entry : std::filesystem::directory_iterator(newest)) {
    const auto file = os::File::open(entry.path(), os::Open::read_write).value();
    ASSERT_TRUE(file.write(file.size().value() - 64, base::as_bytes("damaged!")));
  }
  auto janitor = start({1, 0});
  janitor->enforce_retention("app");
  janitor->activate();
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{3, 3})) << "of each branch one: version 4 is not good";
}

// A restore falls back to the version from which the branch went on, so retention has to keep that one.
TEST_F(JanitorTest, KeepsWhatABranchWentOnFromWhoseOnlyVersionWasSetAside) {
  for (std::uint64_t version = 1; version <= 5; ++version)
    for (const auto& manifest : sample_version({"app", version, {version, plan::nonce_on(1, version)}}, 2))
      ASSERT_TRUE(write_segment(*made, manifest));
  const segment::VersionId newest{"app", 4, {9, plan::nonce_on(2, 9)}};
  for (const auto& manifest : sample_version(newest, 2)) ASSERT_TRUE(write_segment(*made, manifest));
  ASSERT_TRUE(store::set_forks(*made, "app", {{2, 1, 3, 3}}));
  const auto listings = made->list("app").value();
  for (const auto& listing : listings)
    for (const auto& segment : listing.segments) {
      if (listing.id != newest) continue;
      ASSERT_TRUE(made->quarantine(segment, newest, {PERDURE_CORRUPT, "x", "damaged", "", false}));
    }
  auto janitor = start({1, 0});
  janitor->enforce_retention("app");
  janitor->activate();
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{3, 5})) << "the newest of the line, and the newest that was left";
  EXPECT_EQ(reports.take(), std::nullopt);
}

TEST_F(JanitorTest, LeavesTheNamesOfOtherJobsAlone) {
  for (std::uint64_t version : {1, 2, 3}) write(version);
  for (std::uint64_t version : {1, 2, 3}) write(version, 2, "other");
  auto janitor = start({1, 0});
  janitor->activate();
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{1, 2, 3})) << "nobody said yet that it is this job's";
  janitor->enforce_retention("app");
  EXPECT_TRUE(settle(*janitor));
  janitor->enforce_all();
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{3}));
  EXPECT_EQ(versions("other"), (Versions{1, 2, 3}));
}

TEST_F(JanitorTest, WaitsForTheOtherNodesPartOfTheNewestVersion) {
  write(1);
  write(2, 1);
  auto janitor = start({1, 0});
  janitor->enforce_retention("app");
  janitor->activate();
  ASSERT_TRUE(test_support::eventually("the janitor is idle", [&] { return janitor->idle(); }));
  EXPECT_EQ(versions(), (Versions{1, 2}));
  EXPECT_FALSE(janitor->settled());
  write(2);
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{2}));
}

// One node was late with its part of version 2, which is among the newest two as soon as it is whole.
TEST_F(JanitorTest, WaitsForTheOtherNodesPartOfAnOlderVersionThatIsKept) {
  write(1);
  write(2, 1);
  write(3);
  auto janitor = start({2, 0});
  janitor->enforce_retention("app");
  janitor->activate();
  ASSERT_TRUE(test_support::eventually("the janitor is idle", [&] { return janitor->idle(); }));
  EXPECT_EQ(versions(), (Versions{1, 2, 3}));
  EXPECT_TRUE(settle(*janitor)) << "its writer may have died: nobody looks for it for long";
  write(2);
  janitor->enforce_retention("app");
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{2, 3}));
}

TEST_F(JanitorTest, ANewestVersionThatDoesNotVerifyIsNoReasonToGiveUpOlderOnes) {
  for (std::uint64_t version : {1, 2, 3}) write(version);
  for (const auto& entry : std::filesystem::directory_iterator(directory / "store/app/3"))
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 8);
  auto janitor = start({1, 0});
  janitor->enforce_retention("app");
  janitor->activate();
  EXPECT_TRUE(settle(*janitor)) << "damage is no reason to look again";
  EXPECT_EQ(versions(), (Versions{2, 3}));
}

TEST_F(JanitorTest, CleansUpAfterKilledProcesses) {
  for (std::uint64_t version : {1, 2}) write(version);
  const std::string old = directory / "store/app/1/.tmp-" + segment::file_name(0, 2, id(1).attempt);
  std::filesystem::copy_file(directory / "store/app/1/" + segment::file_name(0, 2, id(1).attempt), old);
  const std::string young = directory / "store/app/2/.tmp-" + segment::file_name(0, 2, {99, 1});
  std::filesystem::copy_file(old, young);
  auto janitor = start({9, 0});
  janitor->activate();
  EXPECT_TRUE(settle(*janitor));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(young)) << "somebody may be writing it";
}

TEST_F(JanitorTest, ReportsAFailureOnceAndFinishesWhenItIsOver) {
  for (std::uint64_t version : {1, 2, 3}) write(version);
  os::FaultRules faults(*os::parse_fault_rules("rmdir:/store:EIO:1:4"));
  test_support::InstalledHooks installed(faults);
  auto janitor = start({1, 0});
  janitor->enforce_retention("app");
  janitor->activate();
  EXPECT_TRUE(settle(*janitor));
  janitor->stop();
  EXPECT_EQ(versions(), (Versions{3}));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory / "store/app")) ++entries;
  EXPECT_EQ(entries, 1u) << "markers of removals were left";
  const auto told = reports.take();
  ASSERT_TRUE(told);
  EXPECT_NE(told->find(directory / "store"), std::string::npos) << *told;
  EXPECT_EQ(reports.take(), std::nullopt);
}

// A visible version is not yet durable: its writer may have failed to sync the directory after the rename.
TEST_F(JanitorTest, GivesNothingUpForAVersionThatCannotBeMadeLasting) {
  write(1);
  write(2);
  os::FaultRules faults(os::parse_fault_rules("fsync_dir:/store/app/2:EIO").value());
  std::unique_ptr<Janitor> janitor;
  {
    const test_support::InstalledHooks installed(faults);
    janitor = start({1, 0});
    janitor->enforce_retention("app");
    janitor->activate();
    std::optional<std::string> told;
    ASSERT_TRUE(test_support::eventually("the janitor reports something", [&] {
      told = reports.take();
      return told.has_value();
    }));
    EXPECT_NE(told->find("retention of app failed"), std::string::npos) << *told;
    EXPECT_EQ(versions(), (Versions{1, 2}));
  }
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(versions(), (Versions{2}));
}

TEST_F(JanitorTest, AStoreThatIsNotThereIsNoTrouble) {
  std::filesystem::remove_all(directory / "store");
  auto janitor = start({1, 0});
  janitor->activate();
  janitor->enforce_retention("app");
  EXPECT_TRUE(settle(*janitor));
  EXPECT_EQ(reports.take(), std::nullopt);
}

}  // namespace
}  // namespace perdure::engine
