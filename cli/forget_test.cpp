// perdure forget makes a name a first start, and refuses while a job writes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "cli/verb_testing.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Forget, SaysWhatIsThereAndDoesNothingWithoutYes) {
  SampleStore store;
  for (std::uint64_t version : {1, 2}) store.add("nbody", version);
  store.add("nbody", 3, 2, {1});
  const auto aside = store.store().list("nbody").value().at(0);
  ASSERT_TRUE(store.store().quarantine(aside.segments[0], aside.id, {PERDURE_CORRUPT, "x", "damaged", "", false}));
  const Ran ran = run_verb({"forget", "nbody", "--store", store.path()});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.out,
              HasSubstr("nbody: 1 complete version (up to 2), 2 that cannot be restored, 1 segment set aside"));
  EXPECT_THAT(ran.out, HasSubstr("--yes does it"));
  EXPECT_EQ(store.store().list("nbody").value().size(), 3U);
}

TEST(Forget, MakesTheNameAFirstStartAndTouchesNoOther) {
  SampleStore store;
  // A node whose clock is ahead wrote it.
  store.add("nbody", 1, 2, {}, 5000, 9'000'000'000'000'000'000);
  store.add("heat", 1);
  const auto json = run_verb({"forget", "nbody", "--yes", "--json", "--store", store.path()}).json();
  EXPECT_EQ(json["actions"][0]["done"], true);
  EXPECT_GT(json["bytes"].get<std::uint64_t>(), 0U);
  EXPECT_THAT(store.store().list("nbody").value(), IsEmpty());
  EXPECT_GE(store.store().forgotten("nbody").value(), 9'000'000'000'000'000'001U);
  EXPECT_EQ(store.store().list("heat").value().size(), 1U);
}

store::Owner this_process() {
  store::Owner owner;
  owner.job = "default", owner.launch = "1", owner.user = "alice";
  owner.host = os::process_space();
  owner.process = os::process_id();
  owner.started = os::process_started(owner.process);
  owner.lease_ns = 200'000'000;
  return owner;
}

TEST(Forget, OfWhatAJobThatLivesWritesIsRefusedAndLeavesAll) {
  SampleStore store;
  store.add("nbody", 1);
  ASSERT_TRUE(store.store().set_owner("nbody", std::nullopt, this_process()));
  EXPECT_EQ(run_verb({"forget", "nbody", "--store", store.path()}).status, kGood) << "asking what is there is allowed";
  const Ran ran = run_verb({"forget", "nbody", "--yes", "--store", store.path()});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("a program that lives writes it: job 'default' of alice"));
  EXPECT_THAT(ran.err, HasSubstr("nothing was forgotten"));
  EXPECT_EQ(store.store().list("nbody").value().size(), 1U);
  EXPECT_EQ(store.store().forgotten("nbody").value(), 0U);
}

TEST(Forget, OfWhatAProgramWroteThatIsGoneClosedOrDoesNotRenewIsDone) {
  for (const char* why : {"closed", "gone", "another machine"}) {
    SampleStore store;
    store.add("nbody", 1);
    store::Owner owner = this_process();
    if (why == std::string("closed")) owner.ended = true;
    if (why == std::string("gone")) ++owner.started;
    if (why == std::string("another machine")) owner.host = "another/boot/pid:[1]";
    ASSERT_TRUE(store.store().set_owner("nbody", std::nullopt, owner));
    const Ran ran = run_verb({"forget", "nbody", "--yes", "--store", store.path()});
    EXPECT_EQ(ran.status, kGood) << why << ran.err;
    EXPECT_THAT(store.store().list("nbody").value(), IsEmpty()) << why;
  }
}

TEST(Forget, OfANameWhoseOwnerNobodyCanReadIsDone) {
  SampleStore store;
  store.add("nbody", 1);
  std::ofstream(store.path() + "/nbody/.owner") << "nonsense";
  ASSERT_FALSE(store.store().owner("nbody"));
  const Ran ran = run_verb({"forget", "nbody", "--yes", "--store", store.path(), "--set", "checkpoint.lease=0.2"});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(store.store().list("nbody").value(), IsEmpty());
}

// A living writer has written its record again by the end of the lease.
TEST(Forget, OfANameWhoseDamagedRecordIsWrittenAgainIsRefused) {
  SampleStore store;
  store.add("nbody", 1);
  const std::string record = store.path() + "/nbody/.owner";
  const store::Owner owner = this_process();
  std::ofstream(record) << "nonsense";
  std::thread writer([&] {
    os::sleep_ns(100'000'000);  // wait: the verb has to find the damage first
    EXPECT_TRUE(store.store().set_owner("nbody", std::nullopt, owner));
  });
  const Ran ran = run_verb({"forget", "nbody", "--yes", "--store", store.path(), "--set", "checkpoint.lease=3600"});
  writer.join();
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("a program that lives writes it"));
  EXPECT_EQ(store.store().list("nbody")->size(), 1U);
}

TEST(Forget, OfWhatIsNotThereFailsAndNamesTheNearest) {
  SampleStore store;
  store.add("nbody", 1);
  const Ran ran = run_verb({"forget", "nbdy", "--yes", "--store", store.path()});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("did you mean nbody?"));
}

}  // namespace
}  // namespace perdure::cli
