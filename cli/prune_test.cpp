// perdure prune removes what it says, and nothing that a restore needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>

#include "cli/verb_testing.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::uint64_t> versions_left(SampleStore& store, const std::string& name) {
  std::vector<std::uint64_t> versions;
  const auto listings = store.store().list(name).value();
  for (const auto& listing : listings) versions.push_back(listing.id.version);
  return versions;
}

TEST(Prune, SaysWhatItWouldDoAndDoesNothingWithoutYes) {
  SampleStore store;
  for (std::uint64_t version : {1, 2, 3}) store.add("nbody", version);
  const Ran ran = run_verb({"prune", "--keep-last", "1", "--store", store.path()});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.out, HasSubstr("nbody version 1"));
  EXPECT_THAT(ran.out, HasSubstr("--yes does it"));
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2, 3));
}

TEST(Prune, KeepsTheNewestAndEveryKthVersion) {
  SampleStore store;
  for (std::uint64_t version : {5, 10, 11, 12, 13}) store.add("nbody", version);
  const auto json =
      run_verb({"prune", "--keep-last", "2", "--keep-every", "10", "--yes", "--json", "--store", store.path()}).json();
  EXPECT_EQ(json["actions"].size(), 2u);
  EXPECT_EQ(json["actions"][0]["done"], true);
  EXPECT_GT(json["bytes"].get<std::uint64_t>(), 0u);
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(10, 12, 13));
}

TEST(Prune, AppliesTheConfiguredRetentionByDefaultAndOnlyToTheNamesGiven) {
  SampleStore store;
  for (std::uint64_t version : {1, 2, 3}) store.add("nbody", version), store.add("heat", version);
  EXPECT_EQ(run_verb({"prune", "heat", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(versions_left(store, "heat"), ElementsAre(2, 3));
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2, 3));
}

TEST(Prune, ANameThatIsNotThereIsAnErrorAndTheNearestIsNamed) {
  SampleStore store;
  for (std::uint64_t version : {1, 2, 3}) store.add("nbody", version);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"nbdy"}, {"nbody", "nbdy"}, {"nbdy@1"}, {"nbody@1", "nbdy@1"}}) {
    std::vector<std::string> arguments{"prune", "--yes", "--store", store.path()};
    arguments.insert(arguments.end(), names.begin(), names.end());
    const Ran ran = run_verb(arguments);
    EXPECT_EQ(ran.status, kCannot) << names.back();
    EXPECT_THAT(ran.err, HasSubstr("no such checkpoint in " + store.path())) << names.back();
    EXPECT_THAT(ran.err, HasSubstr("did you mean nbody?")) << names.back();
    EXPECT_THAT(ran.err, HasSubstr("perdure: nothing was removed\n")) << names.back();
  }
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2, 3));
}

TEST(Prune, NothingToRemoveIsSaidOfStoresOnly) {
  SampleStore store;
  EXPECT_EQ(run_verb({"prune", "--store", store.path()}).out, "nothing to remove\n");
  store.add("nbody", 1);
  EXPECT_EQ(run_verb({"prune", "--store", store.path()}).out, "nothing to remove\n");
  const Ran beside = run_verb({"prune", "--store", store.directory().path()});
  EXPECT_EQ(beside.status, kCannot);
  EXPECT_THAT(beside.err, HasSubstr("below it there is a store: " + store.path()));
}

TEST(Prune, SaysOfSeveralNamesWhichWereRemovedAndWhichWereNot) {
  SampleStore store;
  store.add("heat", 1), store.add("heat", 2), store.add("nbody", 1), store.add("nbody", 2);
  const Ran ran = run_verb({"prune", "heat@1", "nbody@1", "nbody@2", "--yes", "--store", store.path()});
  EXPECT_EQ(ran.status, kBad);
  EXPECT_THAT(ran.out, HasSubstr("heat version 1"));
  EXPECT_THAT(ran.out, HasSubstr("nbody versions 1 and 2 are kept, all of them: no other verified version of nbody"));
  EXPECT_THAT(ran.out, HasSubstr(" removed; what is kept was not touched\n"));
  EXPECT_THAT(versions_left(store, "heat"), ElementsAre(2));
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2));
  const Ran none = run_verb({"prune", "heat@2", "--yes", "--store", store.path()});
  EXPECT_EQ(none.status, kBad);
  EXPECT_THAT(none.out, HasSubstr("heat version 2 is kept"));
  EXPECT_THAT(none.out, HasSubstr("\nnothing was removed\n"));
}

TEST(Prune, GivesNothingUpForANewestVersionThatIsDamaged) {
  SampleStore store;
  store.add("nbody", 1);
  flip_byte(store.add("nbody", 2)[0], 5000);  // complete by its manifest, but a chunk is damaged
  const Ran ran = run_verb({"prune", "--keep-last", "1", "--yes", "--store", store.path()});
  EXPECT_THAT(ran.out, HasSubstr("nbody version 2 is damaged"));
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2));
}

TEST(Prune, NeverRemovesTheLastVerifiedVersionUnlessTold) {
  SampleStore store;
  store.add("nbody", 1);
  EXPECT_EQ(run_verb({"prune", "nbody@1", "--yes", "--store", store.path()}).status, kBad);
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1));
  flip_byte(store.add("nbody", 2)[0], 5000);
  EXPECT_EQ(run_verb({"prune", "nbody@1", "--yes", "--store", store.path()}).status, kBad) << "what is left is damaged";
  store.add("nbody", 3);
  EXPECT_EQ(run_verb({"prune", "nbody@1", "nbody@3", "--yes", "--store", store.path()}).status, kBad) << "both at once";
  EXPECT_EQ(run_verb({"prune", "nbody@1", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(2, 3));
  EXPECT_EQ(run_verb({"prune", "nbody@3", "--even-the-last", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(2));
}

TEST(Prune, LeavesAStoreWhereNothingIsLeft) {
  SampleStore store;
  store.add("nbody", 1);
  for (const char* record : {".owner", ".owner.lock", ".runner", ".incarnation", ".owner.tmp-1"})
    std::ofstream(store.path() + "/nbody/" + record) << "x";
  fs::create_directory(store.path() + "/nbody/.forgotten-0000000000000001");
  ASSERT_EQ(run_verb({"prune", "nbody@1", "--even-the-last", "--yes", "--store", store.path()}).status, kGood);
  const Ran listed = run_verb({"ls", "--store", store.path()});
  EXPECT_EQ(listed.status, kGood) << listed.err;
  EXPECT_THAT(run_verb({"verify", "--store", store.path()}).err, HasSubstr("there is no checkpoint in this store"));
  std::ofstream(store.path() + "/nbody/somebody.else") << "x";
  EXPECT_NE(run_verb({"ls", "--store", store.path()}).status, kGood);
}

TEST(Prune, RemovesLeftoversButKeepsWhatMayStillBeWritten) {
  SampleStore store;
  store.add("nbody", 1, 2, {0});
  const std::string path = store.add("nbody", 2)[0];
  store.add("nbody", 3, 2, {0});
  const std::string temporary = store.version_path("nbody", 2) + "/.tmp-" + segment::file_name(0, 2, {9, 9});
  std::ofstream(temporary) << "half";
  const std::string mark = store.path() + "/nbody/.retired-0-" + std::string(32, 'a');
  fs::create_directory(mark);

  EXPECT_EQ(run_verb({"prune", "--leftovers", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(2, 3)) << "3 may still become complete";
  EXPECT_TRUE(fs::exists(temporary)) << "it changed just now";
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_EQ(run_verb({"prune", "--leftovers", "--min-age", "0", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_FALSE(fs::exists(temporary));
  EXPECT_TRUE(fs::exists(path));
}

// Its job may be running: another node brings the rest of it when it can.
TEST(Prune, KeepsWhatIsIncompleteAndWasBegunJustNow) {
  SampleStore store;
  const std::uint64_t now = os::wall_clock_ns();
  store.add("nbody", 1, 2, {0}, 5000, now - 5'000'000'000);
  store.add("nbody", 2, 2, {0, 1}, 5000, now - 4'000'000'000);
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--leftovers"}, {"--keep-last", "1"}}) {
    std::vector<std::string> words{"prune", "--yes", "--store", store.path()};
    words.insert(words.end(), how.begin(), how.end());
    const Ran ran = run_verb(words);
    EXPECT_EQ(ran.status, kGood) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("nbody version 1 is incomplete, and is kept: it was begun less than 600 s ago"));
    EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2));
  }
  EXPECT_EQ(run_verb({"prune", "--leftovers", "--min-age", "1", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(2));
}

TEST(Prune, ReportsWhatIsNotThereAndWhatDoesNotGoTogether) {
  SampleStore store;
  store.add("nbody", 1);
  EXPECT_EQ(run_verb({"prune", "nbody@7", "--store", store.path()}).status, kCannot);
  EXPECT_EQ(run_verb({"prune", "nbody@1", "--keep-last", "1", "--store", store.path()}).status, kUsage);
  EXPECT_EQ(run_verb({"prune", "--keep-last", "0", "--store", store.path()}).status, kUsage);
  EXPECT_EQ(run_verb({"prune", "--keep-last", "-1", "--store", store.path()}).status, kUsage);
}

TEST(Prune, RemovesOnlyNodeDirectoriesOfDeadEngines) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const std::string dead = directory / "node/0123456789abcdef.0", alive = directory / "node/0123456789abcdef.1";
  const std::string slots = directory / "file/0123456789abcdef.0.slots",
                    orphan = directory / "file/fedcba9876543210.0.slots";
  for (const std::string& path : {dead, alive, slots, orphan, directory / "node/mine"}) fs::create_directories(path);
  std::ofstream(dead + "/engine.lock") << "";
  std::ofstream(dead + "/arena") << std::string(10'000, 'x');
  const auto lock = os::File::open(alive + "/engine.lock", os::Open::create).value();
  ASSERT_TRUE(lock.try_lock());

  EXPECT_EQ(run_verb({"prune", "--node"}).status, kGood);
  EXPECT_TRUE(fs::exists(dead));
  const Ran ran = run_verb({"prune", "--node", "--yes"});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_FALSE(fs::exists(slots));
  EXPECT_FALSE(fs::exists(orphan));
  EXPECT_TRUE(fs::exists(alive));
  EXPECT_TRUE(fs::exists(directory / "node/mine"));
  EXPECT_THAT(ran.out, HasSubstr("its engine lives"));
}

TEST(Prune, OfDeadEnginesOnlyWhatNobodyUsedForSoLong) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const std::string old = directory / "node/0123456789abcdef.0", young = directory / "node/0123456789abcdef.1";
  const std::string slots = directory / "file/0123456789abcdef.1.slots";
  for (const std::string& path : {old, young, slots}) fs::create_directories(path);
  const auto two_days_ago = fs::file_time_type::clock::now() - std::chrono::hours(48);
  for (const std::string& path : {old, young}) {
    std::ofstream(path + "/arena") << "x";
    fs::last_write_time(path + "/arena", two_days_ago);
    fs::last_write_time(path, two_days_ago);
  }
  // Files in any of its directories count.
  std::ofstream(slots + "/slot-0") << "x";
  const Ran ran = run_verb({"prune", "--node", "--older-than", "86400", "--yes"});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(slots));
  EXPECT_THAT(ran.out, HasSubstr("--older-than"));
  EXPECT_EQ(run_verb({"prune", "--older-than", "5", "--yes"}).status, kUsage);
}

constexpr plan::Branch kLeft = 0x3f9a12, kCurrent = 0x00beef;

/// Adds versions 1 to 5 of a run, and 1 to 3 of a start after it.
void add_left_run(SampleStore& store) {
  for (std::uint64_t version = 1; version <= 5; ++version) store.add_on(kLeft, "run", version, version);
  for (std::uint64_t version = 1; version <= 3; ++version) store.add_on(kCurrent, "run", version, 10 + version);
}

std::vector<std::uint64_t> left_of(SampleStore& store, plan::Branch branch) {
  std::vector<std::uint64_t> versions;
  const auto listings = store.store().list("run").value();
  for (const auto& listing : listings)
    if (plan::branch_of(listing.id.attempt.nonce) == branch) versions.push_back(listing.id.version);
  return versions;
}

TEST(Prune, KeepsTheNewestOfEachBranch) {
  SampleStore store;
  add_left_run(store);
  EXPECT_EQ(run_verb({"prune", "run", "--keep-last", "2", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(left_of(store, kLeft), ElementsAre(4, 5));
  EXPECT_THAT(left_of(store, kCurrent), ElementsAre(2, 3));
}

TEST(Prune, RemovesBranchesThatWereLeftOnRequestOnly) {
  SampleStore store;
  add_left_run(store);
  store.add("other", 1);
  const std::vector<std::string> branches{"prune", "run", "--branches", "--store", store.path()};
  EXPECT_THAT(run_verb(branches).out, HasSubstr("of branch 3f9a12, which was left"));
  EXPECT_THAT(left_of(store, kLeft), ElementsAre(1, 2, 3, 4, 5));
  auto yes = branches;
  yes.emplace_back("--yes");
  EXPECT_EQ(run_verb(yes).status, kGood);
  EXPECT_THAT(left_of(store, kLeft), IsEmpty());
  EXPECT_THAT(left_of(store, kCurrent), ElementsAre(1, 2, 3)) << "--branches alone is no retention";
  EXPECT_THAT(versions_left(store, "other"), ElementsAre(1));
}

TEST(Prune, KeepsBranchesThatWereLeftWhereTheCurrentOneIsDamaged) {
  SampleStore store;
  store.add_on(kLeft, "run", 1, 1);
  const auto paths = store.add_on(kCurrent, "run", 1, 2);
  flip_byte(paths[0], 5000);
  const Ran ran = run_verb({"prune", "--branches", "--yes", "--store", store.path()});
  EXPECT_THAT(ran.out + ran.err, HasSubstr("the current one has no verified version"));
  EXPECT_THAT(left_of(store, kLeft), ElementsAre(1));
}

// Readers would not know any more that the current branch goes on from the one before.
TEST(Prune, KeepsBranchesWhereTheRecordOfForksIsDamaged) {
  SampleStore store;
  for (std::uint64_t version : {1, 2}) store.add_on(kLeft, "run", version, version);
  store.add_on(kCurrent, "run", 3, 3);
  ASSERT_TRUE(store::set_forks(store.store(), "run", {{kCurrent, kLeft, 2, SampleStore::begun_ns(2)}}));
  std::ofstream(store.path() + "/run/.forks") << "damaged";
  const Ran ran = run_verb({"prune", "run", "--branches", "--yes", "--store", store.path()});
  EXPECT_THAT(ran.out, HasSubstr("run/.forks"));
  EXPECT_THAT(left_of(store, kLeft), ElementsAre(1, 2));
}

// The run before seems to be current as long as the first version of a new start is not complete.
TEST(Prune, KeepsABranchThatMayBeArriving) {
  SampleStore store;
  const std::uint64_t now = os::wall_clock_ns();
  const auto first_of = [](plan::Branch branch, std::uint64_t begun) {
    return segment::VersionId{"run", 1, {begun, plan::nonce_on(branch, 7)}};
  };
  store.add(first_of(kLeft, now - 9'000'000'000));
  store.add(first_of(kCurrent, now - 5'000'000'000), 2, {0});
  for (const char* age : {"600", "1"}) {
    const Ran ran = run_verb({"prune", "run", "--branches", "--min-age", age, "--yes", "--store", store.path()});
    EXPECT_EQ(ran.status, kGood) << ran.err;
    EXPECT_THAT(left_of(store, kCurrent), ElementsAre(1)) << "it is newer than all that is complete; " << age;
  }
  store.add(first_of(kLeft, now - 4'000'000'000));
  const std::vector<std::string> branches{"prune", "run", "--branches", "--yes", "--store", store.path()};
  EXPECT_EQ(run_verb(branches).status, kGood);
  EXPECT_THAT(left_of(store, kCurrent), ElementsAre(1)) << "it is incomplete, and was begun just now";
  auto old = branches;
  old.insert(old.end(), {"--min-age", "1"});
  EXPECT_EQ(run_verb(old).status, kGood);
  EXPECT_THAT(left_of(store, kCurrent), IsEmpty());
}

// Its only version was set aside: a restore falls back to the branch that it went on from.
TEST(Prune, KeepsWhatTheCurrentBranchWentOnFromWhereTheNewestWasSetAside) {
  SampleStore store;
  for (std::uint64_t version = 1; version <= 5; ++version) store.add_on(kLeft, "run", version, version);
  store.add_on(kCurrent, "run", 4, 9);
  ASSERT_TRUE(store::set_forks(store.store(), "run", {{kCurrent, kLeft, 3, SampleStore::begun_ns(3)}}));
  const auto listings = store.store().list("run").value();
  for (const auto& listing : listings)
    for (const auto& segment : listing.segments) {
      if (listing.id.attempt.created_ns != SampleStore::begun_ns(9)) continue;
      ASSERT_TRUE(store.store().quarantine(segment, listing.id, {PERDURE_CORRUPT, "x", "damaged", "", false}));
    }
  EXPECT_EQ(run_verb({"prune", "run", "--keep-last", "2", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(left_of(store, kLeft), ElementsAre(2, 3, 4, 5)) << "two of the line, and two that were left";
}

TEST(Prune, TakesAPlainNumberForThatOfTheCurrentBranch) {
  SampleStore store;
  add_left_run(store);
  EXPECT_EQ(run_verb({"prune", "run@2", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(left_of(store, kCurrent), ElementsAre(1, 3));
  EXPECT_THAT(left_of(store, kLeft), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(run_verb({"prune", "run@3f9a12:2", "run@3f9a12:4", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(left_of(store, kLeft), ElementsAre(1, 3, 5));
  const Ran only_left = run_verb({"prune", "run@5", "--yes", "--store", store.path()});
  EXPECT_EQ(only_left.status, kCannot);
  EXPECT_THAT(only_left.err, HasSubstr("run@3f9a12:5"));
  EXPECT_EQ(run_verb({"prune", "run", "--after", "1", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_THAT(left_of(store, kCurrent), ElementsAre(1));
  EXPECT_THAT(left_of(store, kLeft), ElementsAre(1, 3, 5)) << "they do not come after it";
}

TEST(Prune, AfterAVersionThatOneGoesBackTo) {
  SampleStore store;
  for (std::uint64_t version : {1, 2, 3, 9}) store.add("nbody", version), store.add("heat", version);
  const std::vector<std::string> from_2{"prune", "nbody", "--after", "2", "--store", store.path()};
  EXPECT_THAT(run_verb(from_2).out, AllOf(HasSubstr("nbody version 3"), HasSubstr("nbody version 9")));
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2, 3, 9));
  const auto with = [](std::vector<std::string> arguments, const char* more) {
    arguments.emplace_back(more);
    return arguments;
  };
  EXPECT_EQ(run_verb(with(from_2, "--yes")).status, kGood);
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2));
  EXPECT_THAT(versions_left(store, "heat"), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(run_verb(with(from_2, "--yes")).out, HasSubstr("nothing to remove"));
  // A missing version is a mistake: the versions after it would be lost by it.
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"heat", "--after", "0"}, {"het", "--after", "2"}}) {
    std::vector<std::string> arguments{"prune", "--store", store.path(), "--yes"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(run_verb(arguments).status, kCannot) << wrong[0];
  }
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--after", "2"},
                                                {"heat", "nbody", "--after", "2"},
                                                {"heat@3", "--after", "2"},
                                                {"heat", "--after", "2", "--keep-last", "1"}}) {
    std::vector<std::string> arguments{"prune", "--store", store.path(), "--yes"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(run_verb(arguments).status, kUsage) << wrong[0];
  }
  EXPECT_THAT(versions_left(store, "heat"), ElementsAre(1, 2, 3, 9));
}

// Pruning would make the branch that an earlier step back left the newest again.
TEST(Prune, AfterAVersionIsRefusedWhereALeftBranchWouldBecomeTheCurrentOne) {
  SampleStore store;
  for (std::uint64_t version = 1; version <= 5; ++version) store.add_on(kLeft, "run", version, version);
  for (std::uint64_t version : {4, 5}) store.add_on(kCurrent, "run", version, 10 + version);
  ASSERT_TRUE(store::set_forks(store.store(), "run", {{kCurrent, kLeft, 3, SampleStore::begun_ns(3)}}));
  const std::vector<std::string> after_3{"prune", "run", "--after", "3", "--yes", "--store", store.path()};
  const Ran refused = run_verb(after_3);
  EXPECT_EQ(refused.status, kBad);
  EXPECT_THAT(refused.out, HasSubstr("run@3f9a12:5, of a branch that was left, would become the newest"));
  EXPECT_THAT(refused.out, HasSubstr("perdure prune --branches run first"));
  EXPECT_THAT(left_of(store, kCurrent), ElementsAre(4, 5));
  EXPECT_EQ(run_verb({"prune", "--branches", "run", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_EQ(run_verb(after_3).status, kGood);
  EXPECT_THAT(versions_left(store, "run"), ElementsAre(1, 2, 3));
}

// A version that is gone back to and cannot be read is no place to go on from.
TEST(Prune, NothingIsGivenUpForADamagedVersionThatOneGoesBackTo) {
  SampleStore store;
  store.add("nbody", 1);
  flip_byte(store.add("nbody", 2)[0], 5000);
  store.add("nbody", 3);
  const Ran ran = run_verb({"prune", "nbody", "--after", "2", "--yes", "--store", store.path()});
  EXPECT_EQ(ran.status, kBad) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("nbody version 2 is damaged"));
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2, 3));
}

/// Puts the first segment of a version in quarantine.
void set_aside(SampleStore& store, const std::string& name, std::uint64_t version) {
  store.add(name, version);
  const auto listings = store.store().list(name).value();
  for (const auto& listing : listings) {
    if (listing.id.version != version) continue;
    const base::Error why{PERDURE_CORRUPT, "x", "hash differs at offset 4096", "", false};
    ASSERT_TRUE(store.store().quarantine(listing.segments[0], listing.id, why));
  }
}

std::size_t files_in_quarantine(const SampleStore& store) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(store.path() + "/.quarantine")) ++count;
  return count;
}

TEST(PruneOfTheQuarantine, SaysWhatItWouldRemoveAndRemovesItWithItsReportsWithYes) {
  SampleStore store;
  store.add("nbody", 1);
  set_aside(store, "nbody", 2);
  const Ran shown = run_verb({"prune", "--quarantine", "--store", store.path()});
  EXPECT_EQ(shown.status, kGood) << shown.err;
  EXPECT_THAT(shown.out, testing::AllOf(HasSubstr("/.quarantine/nbody.2."), HasSubstr("hash differs"),
                                        HasSubstr("--yes does it")));
  EXPECT_EQ(files_in_quarantine(store), 2U);
  const auto json = run_verb({"prune", "--quarantine", "--yes", "--json", "--store", store.path()}).json();
  ASSERT_EQ(json["actions"].size(), 1U);
  EXPECT_EQ(json["actions"][0]["done"], true);
  EXPECT_GT(json["bytes"].get<std::uint64_t>(), 0U);
  EXPECT_EQ(files_in_quarantine(store), 0U);
  EXPECT_THAT(versions_left(store, "nbody"), ElementsAre(1, 2)) << "retention was not asked for";
}

TEST(PruneOfTheQuarantine, IsLimitedToNames) {
  SampleStore store;
  for (const char* name : {"nbody", "heat"}) {
    store.add(name, 1);
    set_aside(store, name, 2);
  }
  EXPECT_EQ(run_verb({"prune", "heat", "--quarantine", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_EQ(store.store().set_aside("nbody").value().size(), 1U);
  EXPECT_THAT(store.store().set_aside("heat").value(), IsEmpty());
  const Ran unknown = run_verb({"prune", "het", "--quarantine", "--yes", "--store", store.path()});
  EXPECT_EQ(unknown.status, kCannot);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean heat?"));
  EXPECT_EQ(run_verb({"prune", "heat@2", "--quarantine", "--store", store.path()}).status, kUsage);
}

// Otherwise a program that is told `corrupt` would begin anew without being asked.
TEST(PruneOfTheQuarantine, KeepsWhatIsAllThatIsLeftOfANameUntilThatIsForgotten) {
  SampleStore store;
  set_aside(store, "nbody", 1);
  const std::vector<std::string> prune{"prune", "--quarantine", "--yes", "--store", store.path()};
  const Ran kept = run_verb(prune);
  EXPECT_EQ(kept.status, kGood);
  EXPECT_THAT(kept.out, HasSubstr("nbody: its quarantine is kept"));
  EXPECT_EQ(files_in_quarantine(store), 2U);
  ASSERT_EQ(run_verb({"forget", "nbody", "--yes", "--store", store.path()}).status, kGood);
  EXPECT_EQ(run_verb(prune).status, kGood);
  EXPECT_EQ(files_in_quarantine(store), 0U);
}

}  // namespace
}  // namespace perdure::cli
