#include "node/reclaim.hpp"

#include <gmock/gmock.h>

#include "node/dead_engine_testing.hpp"

namespace perdure::node {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Reclaiming : public DeadEnginesFixture {};

TEST_F(Reclaiming, GivesUpWhatStoresHaveAndNamesWhatTheyLack) {
  leave("one", {1, 2});
  store("one", 1);
  store("one", 2);
  leave("two", {1, 2});
  store("two", 1);
  const Reclaimed reclaimed = reclaim_for("mine");
  EXPECT_FALSE(there("one"));
  EXPECT_TRUE(there("two"));
  EXPECT_EQ(reclaimed.given_up.size(), 1u);
  EXPECT_GE(reclaimed.bytes(), 30'000u);
  EXPECT_THAT(reclaimed.failures, IsEmpty());
  EXPECT_THAT(reclaimed.lacking_text(),
              AllOf(HasSubstr("job 'two' with store " + store_of("two") + ": run version 2 (4.9 KiB)"),
                    Not(HasSubstr("version 1")), Not(HasSubstr("'one'"))));
}

// Its versions may be older than those in the store by now, since retention removed them there.
TEST_F(Reclaiming, GivesUpWhatWasStoredAndRetired) {
  leave("one", {1});
  store("one", 5);
  EXPECT_THAT(reclaim_for("mine").given_up, IsEmpty()) << "the store never had it";
  append("one", catalog::StoredRecord{test_support::sample_id(1, "run"), 0});
  EXPECT_EQ(reclaim_for("mine").given_up.size(), 1u);
}

TEST_F(Reclaiming, LeavesWhatTheStoreHasInPartsOnly) {
  leave("one", {1});
  const auto store = store::make_store(store_of("one")).value();
  ASSERT_TRUE(store->prepare());
  const auto manifests = test_support::sample_version(test_support::sample_id(1, "run"), 2);
  ASSERT_TRUE(test_support::write_segment(*store, manifests[0]));
  append("one", catalog::StoredRecord{test_support::sample_id(1, "run"), 0});
  EXPECT_THAT(reclaim_for("mine").lacking_text(), HasSubstr("run version 1"));
  ASSERT_TRUE(test_support::write_segment(*store, manifests[1]));
  EXPECT_THAT(reclaim_for("mine").lacking_text(), IsEmpty());
  EXPECT_FALSE(there("one"));
}

TEST_F(Reclaiming, LeavesWhatIsDamagedInTheStore) {
  leave("one", {1});
  store("one", 1);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store_of("one")))
    if (entry.path().extension() == ".pds") std::filesystem::resize_file(entry.path(), entry.file_size() - 1);
  EXPECT_THAT(reclaim_for("mine").given_up, IsEmpty());
  EXPECT_TRUE(there("one"));
}

TEST_F(Reclaiming, LeavesTheJobsOwnItsOwnAndThoseOfLivingEngines) {
  for (const char* job : {"mine", "alive", "own"}) {
    leave(job, {1});
    store(job, 1);
  }
  const auto lock = os::File::open(path_of("alive") + kLock, os::Open::read_write).value();
  ASSERT_TRUE(lock.try_lock());
  const Reclaimed reclaimed = reclaim_for("mine", path_of("own"));
  EXPECT_THAT(reclaimed.given_up, IsEmpty());
  EXPECT_THAT(reclaimed.lacking_text(), IsEmpty()) << "they are nobody's fault";
  for (const char* job : {"mine", "alive", "own"}) EXPECT_TRUE(there(job)) << job;
}

TEST_F(Reclaiming, LeavesWhatNobodyKnowsTheStoreOf) {
  leave("one", {1});
  store("one", 1);
  ASSERT_TRUE(os::remove_file(path_of("one") + kJobNote));
  leave("two", {1});
  EXPECT_THAT(reclaim_for("mine").lacking_text(),
              AllOf(HasSubstr("a job that is not known"), HasSubstr("its store is not known"), HasSubstr("job 'two'")));
  EXPECT_TRUE(there("one") && there("two"));
}

TEST_F(Reclaiming, StopsBetweenDirectories) {
  for (const char* job : {"one", "two"}) {
    leave(job, {1});
    store(job, 1);
  }
  int asked = 0;
  const auto reclaimed = reclaim(config, {"", {"mine", "", ""}, open, [&] { return ++asked > 1; }});
  EXPECT_EQ(reclaimed.given_up.size(), 1u);
}

TEST_F(Reclaiming, OfMemoryCountsThatOfAllOthers) {
  EXPECT_EQ(memory_of_others(root(), "x"), 0u);
  leave("one", {});
  leave("two", {});
  const auto of = [&](const std::string& own) { return memory_of_others(root(), own); };
  const std::string one = path_of("one").substr(root().size() + 1);
  EXPECT_GE(of(one), 20'000u);
  EXPECT_EQ(of("none"), 2 * of(one));
}

}  // namespace
}  // namespace perdure::node
