// perdure rename gives a checkpoint a new name, and verbs explain a directory renamed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "cli/verb_testing.hpp"
#include "os/system.hpp"
#include "reader/inventory.hpp"

namespace perdure::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

Ran rename(SampleStore& store, const std::string& from, const std::string& to, bool yes = true) {
  std::vector<std::string> arguments{"rename", from, to, "--store", store.path()};
  if (yes) arguments.emplace_back("--yes");
  return run_verb(arguments);
}

void move_by_hand(const SampleStore& store, const std::string& from, const std::string& to) {
  fs::rename(store.path() + "/" + from, store.path() + "/" + to);
}

std::set<std::uint64_t> complete_versions(SampleStore& store, const std::string& name) {
  std::set<std::uint64_t> versions;
  const auto all = reader::inventory(store.store(), name);
  if (!all) return versions;
  for (const auto& one : *all)
    if (one.complete()) versions.insert(one.listing.id.version);
  return versions;
}

const std::set<std::uint64_t> kBoth{1, 2};

void add_both(SampleStore& store, const std::string& name) {
  for (const std::uint64_t version : kBoth) store.add(name, version);
}

void expect_all_under(SampleStore& store, const std::string& name) {
  EXPECT_EQ(complete_versions(store, name), kBoth);
  const Ran verified = run_verb({"verify", store.path(), name});
  EXPECT_EQ(verified.status, kGood) << verified.out << verified.err;
}

TEST(RenamedDirectory, IsToldOnceByEachReadingVerbWithTheWayOut) {
  SampleStore store;
  add_both(store, "old");
  move_by_hand(store, "old", "new");
  const auto tells =
      AllOf(HasSubstr("checkpoint new: its directory was renamed: its segments say that they are of old"),
            HasSubstr("perdure rename old new"));
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"show", "new"},
                                               {"show", "new@1"},
                                               {"cat", "new", "7"},
                                               {"diff", "new@1", "new@2"},
                                               {"show", "new", "--regions"},
                                               {"prune", "new", "--keep-last", "1"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"--store", store.path()});
    const Ran ran = run_verb(arguments);
    EXPECT_EQ(ran.status, kCannot) << verb[0];
    EXPECT_THAT(ran.err, tells) << verb[0];
    EXPECT_EQ(ran.err.find("its directory"), ran.err.rfind("its directory")) << verb[0] << ": " << ran.err;
  }
  const Ran listed = run_verb({"ls", store.path()});
  EXPECT_THAT(listed.err, tells);
  EXPECT_THAT(listed.out, HasSubstr("renamed: it was old"));
  EXPECT_EQ(run_verb({"ls", "--json", store.path()}).json()["checkpoints"][0]["state"], "renamed");
  EXPECT_EQ(store.store().list("new").value().size(), 2U) << "nothing is set aside";
}

TEST(RenamedDirectory, IsNamedToWhoAsksForTheOldName) {
  SampleStore store;
  add_both(store, "old");
  add_both(store, "other");
  move_by_hand(store, "old", "new");
  const Ran ran = run_verb({"show", "old", "--store", store.path()});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("its directory was renamed to new"), HasSubstr("perdure rename old new")));
}

TEST(RenamedDirectory, IsOneFindingOfVerifyAndAboutTheDirectory) {
  SampleStore store;
  add_both(store, "old");
  move_by_hand(store, "old", "new");
  const auto json = run_verb({"verify", "--json", store.path()}).json();
  ASSERT_EQ(json["defects"].size(), 1U) << json;
  EXPECT_EQ(json["defects"][0]["file"], store.path() + "/new");
  EXPECT_EQ(json["defects"][0]["error"]["code"], "mismatch");
  EXPECT_THAT(run_verb({"verify", store.path()}).out, HasSubstr("perdure rename old new"));
}

TEST(RenamedDirectory, IsKeptByAPruneOfTheWholeStore) {
  SampleStore store;
  add_both(store, "old");
  add_both(store, "other");
  move_by_hand(store, "old", "new");
  const Ran ran = run_verb({"prune", "--keep-last", "1", "--yes", "--store", store.path()});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_EQ(store.store().list("new").value().size(), 2U);
  EXPECT_EQ(store.store().list("other").value().size(), 1U);
}

TEST(Rename, SaysWhatItWouldDoAndDoesNothingWithoutYes) {
  SampleStore store;
  add_both(store, "old");
  const Ran ran = rename(store, "old", "new", false);
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("old would be renamed to new: 2 versions"), HasSubstr("--yes does it")));
  EXPECT_EQ(complete_versions(store, "old"), kBoth);
  EXPECT_FALSE(fs::exists(store.path() + "/new"));
}

TEST(Rename, GivesAllVersionsTheNewNameAndForgetsTheOld) {
  SampleStore store;
  add_both(store, "old");
  add_both(store, "other");
  const auto before = run_verb({"show", "old", "--all", "--json", "--store", store.path()}).json()["versions"];
  const Ran ran = rename(store, "old", "new");
  ASSERT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("old renamed to new: 2 versions"));
  expect_all_under(store, "new");
  EXPECT_THAT(store.store().list("old").value(), IsEmpty());
  EXPECT_EQ(complete_versions(store, "other"), kBoth);
  const auto after = run_verb({"show", "new", "--all", "--json", "--store", store.path()}).json()["versions"];
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i]["attempt"], before[i]["attempt"]);
    EXPECT_EQ(after[i]["segments"][0]["pieces"], before[i]["segments"][0]["pieces"]) << "the same bytes";
  }
}

TEST(Rename, KeepsBranchesAndWhoseTheNameIs) {
  SampleStore store;
  constexpr plan::Branch kOld = 0x3f9a12, kNew = 0x00beef;
  for (std::uint64_t version : {4, 5, 6}) store.add_on(kOld, "old", version, version);
  store.add_on(kNew, "old", 6, 7);
  const std::vector<plan::Fork> forks{{kNew, kOld, 5, 1'700'000'000'000'000'005}};
  ASSERT_TRUE(store::set_forks(store.store(), "old", forks));
  store::Owner owner;
  owner.job = "wind", owner.launch = "1", owner.user = "alice", owner.host = "h", owner.lease_ns = 1'000'000'000;
  owner.ended = true;
  ASSERT_TRUE(store.store().set_owner("old", std::nullopt, owner));
  ASSERT_EQ(rename(store, "old", "new").status, kGood);
  EXPECT_EQ(store::forks(store.store(), "new").value(), forks);
  EXPECT_EQ(store.store().owner("new").value().value().job, "wind");
}

TEST(Rename, MendsADirectoryThatWasRenamedByHandAlsoWhereTheOldNameIsThereAgain) {
  for (const bool again : {false, true}) {
    SampleStore store;
    add_both(store, "old");
    move_by_hand(store, "old", "new");
    if (again) store.add("old", 5);
    const Ran ran = rename(store, "old", "new");
    ASSERT_EQ(ran.status, kGood) << ran.err;
    expect_all_under(store, "new");
    EXPECT_FALSE(fs::exists(store.path() + "/new.moved"));
    EXPECT_EQ(complete_versions(store, "old").size(), again ? 1U : 0U);
  }
}

void expect_refused(SampleStore& store, const std::string& from, const std::string& to, const std::string& why) {
  const auto names = store.store().names().value();
  const Ran ran = rename(store, from, to);
  EXPECT_THAT(ran.status, testing::AnyOf(kCannot, kUsage)) << why;
  EXPECT_THAT(ran.err, HasSubstr(why));
  EXPECT_EQ(store.store().names().value(), names) << "it changed something: " << why;
}

TEST(Rename, IsRefusedBeforeAnythingIsChanged) {
  SampleStore store;
  add_both(store, "old");
  store.add("taken", 7);
  expect_refused(store, "old", "taken", "there are other checkpoints of that name");
  expect_refused(store, "od", "new", "did you mean old?");
  expect_refused(store, "old", "old", "both names are the same");
  expect_refused(store, "old", "no/name", "name");
  store.add("half", 3, 2, {1});
  expect_refused(store, "half", "new", "perdure prune half@3");
  flip_byte(store.add("bad", 4)[0], 5000);
  expect_refused(store, "bad", "new", "damaged");
  EXPECT_EQ(complete_versions(store, "old"), kBoth);
}

TEST(Rename, OfWhatAJobThatLivesWritesIsRefused) {
  SampleStore store;
  add_both(store, "old");
  store::Owner owner;
  owner.job = "default", owner.launch = "1", owner.user = "alice";
  owner.host = os::process_space();
  owner.process = os::process_id();
  owner.started = os::process_started(owner.process);
  owner.lease_ns = 200'000'000;
  ASSERT_TRUE(store.store().set_owner("old", std::nullopt, owner));
  expect_refused(store, "old", "new", "a program that lives writes it: job 'default' of alice");
}

}  // namespace
}  // namespace perdure::cli
