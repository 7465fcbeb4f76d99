// perdure prune --node shows who owns a directory, what it holds, and what the stores lack of that.
#include "inspect/prune_node.hpp"

#include <gmock/gmock.h>

#include "cli/verb_testing.hpp"
#include "inspect/check.hpp"
#include "node/dead_engine_testing.hpp"

namespace perdure::cli {
namespace {

using inspect::NodeChoice;
using inspect::NodePrune;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PruneNode : public node::DeadEnginesFixture {
 protected:
  /// Makes one job with everything in its store, and one with half of it.
  PruneNode() {
    leave("one", {1, 2});
    for (const std::uint64_t version : {1, 2}) store("one", version);
    leave("two", {1, 2}, "walk");
    store("two", 1, "walk");
  }
  static Ran prune(std::vector<std::string> more) {
    std::vector<std::string> arguments{"prune", "--node"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_verb(arguments);
  }

 private:
  Variable node_{"PERDURE_NODE_PATH", root()}, file_{"PERDURE_TIER_FILE_PATH", directory / "file"};
};

TEST_F(PruneNode, ShowsWhoseItIsAndWhatTheStoresLack) {
  const Ran ran = prune({});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("job 'one' with store " + store_of("one") +
                              ": run version 1 (4.9 KiB), run "
                              "version 2 (4.9 KiB), all of it at the store"),
                    HasSubstr(path_of("two") + " is kept: the store lacks what it holds: job 'two' with store " +
                              store_of("two") + ": walk version 2 (4.9 KiB)")));
  EXPECT_THAT(ran.out, Not(HasSubstr("walk version 1")));
  EXPECT_TRUE(there("one") && there("two"));
}

TEST_F(PruneNode, RemovesWithoutAWordOnlyWhatIsStored) {
  EXPECT_EQ(prune({"--yes"}).status, kGood);
  EXPECT_FALSE(there("one"));
  EXPECT_TRUE(there("two"));
  const Ran all = prune({"--even-unstored", "--yes"});
  EXPECT_THAT(all.out, HasSubstr("what the store lacks is lost with it: job 'two'"));
  EXPECT_FALSE(there("two"));
}

TEST_F(PruneNode, RemovesWhatIsOldEnoughWhateverItIs) {
  EXPECT_EQ(prune({"--older-than", "3600", "--yes"}).status, kGood);
  EXPECT_TRUE(there("one") && there("two"));
  const auto two_hours_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (const std::string& part : left_by("two").directory.directories)
    for (const auto& entry : std::filesystem::directory_iterator(part))
      std::filesystem::last_write_time(entry.path(), two_hours_ago);
  EXPECT_EQ(prune({"--older-than", "3600", "--yes"}).status, kGood);
  EXPECT_TRUE(there("one"));
  EXPECT_FALSE(there("two"));
}

TEST_F(PruneNode, IsLimitedToAJobAStoreOrNames) {
  EXPECT_THAT(prune({"--job", "two"}).out, AllOf(HasSubstr("'two'"), Not(HasSubstr("'one'"))));
  EXPECT_THAT(prune({"--store", store_of("one")}).out, AllOf(HasSubstr("'one'"), Not(HasSubstr("'two'"))));
  EXPECT_THAT(prune({"walk"}).out, AllOf(HasSubstr("'two'"), Not(HasSubstr("'one'"))));
  EXPECT_THAT(prune({"wlak"}).out, HasSubstr("wlak: no engine's directory on this machine holds anything of it"));
  EXPECT_EQ(prune({"run", "--even-unstored", "--yes"}).status, kGood);
  EXPECT_FALSE(there("one"));
  EXPECT_TRUE(there("two"));
}

TEST_F(PruneNode, GivesUpADirectoryWholeOrNotAtAll) {
  const auto id = test_support::sample_id(7, "heat");
  append("one", test_support::sample_stage(id, 0, 1));
  EXPECT_THAT(prune({"run", "--even-unstored", "--yes"}).out, HasSubstr("it also holds heat version 7"));
  EXPECT_TRUE(there("one"));
  EXPECT_EQ(prune({"run", "heat", "--even-unstored", "--yes"}).status, kGood);
  EXPECT_FALSE(there("one"));
}

TEST_F(PruneNode, AsksForNothingElse) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--keep-last", "1"}, {"--leftovers"}, {"run@1"}, {"run", "--after", "1"}})
    EXPECT_EQ(prune(wrong).status, kUsage) << wrong[0];
  for (const char* word : {"--even-unstored", "--job=one"}) EXPECT_EQ(run_verb({"prune", word}).status, kUsage) << word;
  EXPECT_TRUE(there("one") && there("two"));
}

TEST_F(PruneNode, TellsPrograms) {
  const auto json = prune({"--json"}).json();
  ASSERT_EQ(json["directories"].size(), 2u);
  for (const auto& one : json["directories"]) {
    const bool is_one = one["job"] == "one";
    EXPECT_EQ(one["path"], path_of(is_one ? "one" : "two"));
    EXPECT_EQ(one["store"], store_of(is_one ? "one" : "two"));
    EXPECT_EQ(one["all_at_store"], is_one);
    EXPECT_EQ(one["held"][0]["at_store"], true);
    EXPECT_EQ(one["held"][1]["at_store"], is_one);
    EXPECT_EQ(one["held"][1]["version"], 2);
    EXPECT_EQ(one["alive"], false);
  }
}

TEST_F(PruneNode, SeesTheSameAsDoctor) {
  const auto checks = inspect::check_node_directories(config);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_THAT(checks[0].finding,
              AllOf(HasSubstr("job 'one' with store " + store_of("one")),
                    HasSubstr("not brought to the store: walk version 1 (4.9 KiB), walk version 2")));
  EXPECT_THAT(checks[0].remedy, HasSubstr("--older-than"));
}

TEST(NodeChoice, KeepsWhatNobodyKnowsTheOwnerOf) {
  node::Left left;
  left.directory.path = "/n/0123456789abcdef.0";
  NodePrune wish;
  EXPECT_EQ(choose(wish, left, {}).what, NodeChoice::What::remove) << "it holds nothing";
  wish.job = "one";
  EXPECT_EQ(choose(wish, left, {}).what, NodeChoice::What::keep);
  left.job = node::JobNote{"two", "/s", "here"};
  EXPECT_EQ(choose(wish, left, {}).what, NodeChoice::What::not_asked_for);
  left.job->job = "one";
  EXPECT_EQ(choose(wish, left, {}).what, NodeChoice::What::remove);
  left.directory.alive = true;
  EXPECT_EQ(choose(wish, left, {}).what, NodeChoice::What::keep);
}

}  // namespace
}  // namespace perdure::cli
