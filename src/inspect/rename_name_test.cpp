// A rename gives all versions the new name, and a kill at any moment loses nothing.
#include "inspect/rename_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>

#include "inspect/audit.hpp"
#include "os/file.hpp"
#include "os/hooks.hpp"
#include "reader/inventory.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::inspect {
namespace {

using Versions = std::set<std::uint64_t>;
constexpr std::uint64_t kBegun_ns = 1'700'000'000'000'000'000;

segment::VersionId old_version(std::uint64_t version) { return {"old", version, {kBegun_ns + version, 7}}; }

/// A store with versions 1 and 2 of the name `old`, of one segment each.
class RenamedStore {
 public:
  RenamedStore() {
    EXPECT_TRUE(store_->prepare());
    for (const std::uint64_t version : {1, 2}) add(test_support::sample_version(old_version(version), 1).at(0));
  }
  void add(const segment::Manifest& manifest) { EXPECT_TRUE(test_support::write_segment(*store_, manifest)); }
  void move_by_hand(const std::string& from, const std::string& to) const {
    EXPECT_TRUE(os::rename_path(path() + "/" + from, path() + "/" + to));
  }
  base::Status rename() {
    const auto advance = [](std::uint64_t) {};
    PERDURE_TRY(const auto plan, plan_rename(*store_, "old", "new"));
    PERDURE_CHECK(check_sound(*store_, plan, advance));
    return rename_stored(*store_, plan, advance);
  }
  Versions complete(const std::string& name) {
    Versions versions;
    const auto all = reader::inventory(*store_, name).value_or(std::vector<reader::VersionFacts>{});
    for (const auto& one : all)
      if (one.complete()) versions.insert(one.listing.id.version);
    return versions;
  }
  void expect_sound(const std::string& name) {
    const auto plan = plan_audit(*store_, name, std::nullopt, std::nullopt);
    ASSERT_TRUE(plan) << plan.error().text();
    const auto result = audit(*store_, *plan, 1, [](std::uint64_t) {});
    EXPECT_TRUE(result.defects.empty()) << result.defects.front().error.text();
    EXPECT_TRUE(result.incomplete.empty());
  }
  std::string path() const { return directory_ / "store"; }
  store::Store& store() { return *store_; }

 private:
  test_support::TemporaryDirectory directory_{test_support::TemporaryDirectory::Place::memory};
  std::unique_ptr<store::Store> store_ = store::make_store(directory_ / "store").value();
};

TEST(StoredRename, GivesAllVersionsTheNewNameAndForgetsTheOld) {
  RenamedStore store;
  const auto renamed = store.rename();
  ASSERT_TRUE(renamed) << renamed.error().text();
  EXPECT_EQ(store.complete("new"), (Versions{1, 2}));
  EXPECT_TRUE(store.store().list("old").value().empty());
  store.expect_sound("new");
}

TEST(StoredRename, MendsWhatWasRenamedByHandAlsoWhereTheOldNameIsThereAgain) {
  for (const bool again : {false, true}) {
    RenamedStore store;
    store.move_by_hand("old", "new");
    if (again) store.add(test_support::sample_version(old_version(5), 1).at(0));
    const auto renamed = store.rename();
    ASSERT_TRUE(renamed) << renamed.error().text();
    EXPECT_EQ(store.complete("new"), (Versions{1, 2}));
    EXPECT_EQ(store.complete("old"), again ? Versions{5} : Versions{});
    EXPECT_FALSE(os::exists(store.path() + "/new.moved").value());
  }
}

TEST(StoredRename, BringsBorrowedSegmentsAlongAlsoWhereTheirVersionIsGone) {
  RenamedStore store;
  const auto lender = store.store().list("old").value().at(0);
  auto borrower = test_support::sample_version(old_version(3), 1).at(0);
  const store::BorrowedSegment lent{1, lender.segments.at(0)};
  segment::set_borrowed(borrower.pieces.at(0).regions.at(0), {lent.described()});
  ASSERT_TRUE(store::borrow(store.store(), borrower.id, lent));
  store.add(borrower);
  ASSERT_TRUE(store.store().remove(lender.id));
  ASSERT_EQ(store.complete("old"), (Versions{2, 3}));
  const auto renamed = store.rename();
  ASSERT_TRUE(renamed) << renamed.error().text();
  EXPECT_EQ(store.complete("new"), (Versions{2, 3}));
  EXPECT_EQ(store.store().list("new").value().size(), 2U) << "the lender's version is not there again";
  store.expect_sound("new");
}

TEST(StoredRename, OfWhatIsNotWholeChangesNothing) {
  RenamedStore store;
  store.add(test_support::sample_version(old_version(3), 2).at(1));
  const auto renamed = store.rename();
  ASSERT_FALSE(renamed);
  EXPECT_EQ(renamed.error().code, PERDURE_INCOMPLETE);
  EXPECT_THAT(renamed.error().text(), testing::HasSubstr("perdure prune old@3"));
  EXPECT_FALSE(os::exists(store.path() + "/new").value());
}

/// Kills this process at the n-th call that changes a file.
class KillAtChange : public os::Hooks {
 public:
  explicit KillAtChange(int n) : left_(n) {}
  int before(const os::Operation& operation) override {
    static const std::set<std::string> kChanges{"pwrite", "rename", "unlink",    "mkdir",    "rmdir",
                                                "link",   "fsync",  "fdatasync", "fsync_dir"};
    if (kChanges.contains(operation.call) && --left_ == 0) ::raise(SIGKILL);
    return 0;
  }

 private:
  std::atomic<int> left_;
};

/// Tells whether it was killed; otherwise it has ended well.
bool killed_at(int n, RenamedStore& store) {
  const pid_t child = ::fork();
  if (child == 0) {
    KillAtChange hooks(n);
    os::install_hooks(&hooks);
    ::_exit(store.rename() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || status == 0) << status;
  return WIFSIGNALED(status);
}

class KilledRename : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Directories, KilledRename, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "renamed_by_hand" : "in_its_place"; });

TEST_P(KilledRename, LosesNothingAtAnyCallAndTheNextOneEndsIt) {
  int n = 0;
  for (bool killed = true; killed;) {
    RenamedStore store;
    if (GetParam()) store.move_by_hand("old", "new");
    killed = killed_at(++n, store);
    const auto again = killed ? store.rename() : base::Status();
    // After the last step there is nothing left to rename.
    if (!again) {
      EXPECT_EQ(again.error().code, PERDURE_NOT_FOUND) << again.error().text();
    }
    EXPECT_EQ(store.complete("new"), (Versions{1, 2})) << (again ? "" : again.error().text());
    store.expect_sound("new");
    ASSERT_FALSE(HasFailure()) << "killed at change " << n;
  }
  EXPECT_GT(n, 20);
}

}  // namespace
}  // namespace perdure::inspect
