// Only one launch at a time writes a name; the others are told.
#include "client/name_claims.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::client {
namespace {

using test_support::eventually;

using testing::HasSubstr;
using Access = NameClaims::Access;

constexpr std::uint64_t kLease_ns = 400'000'000;

class NameClaim : public testing::Test {
 protected:
  NameClaim() { EXPECT_TRUE(store_->prepare()); }
  static store::Owner launch(const std::string& name) { return this_launch("default", "", name, kLease_ns); }
  /// Makes the same owner on another machine, whose processes cannot be looked for here.
  static store::Owner elsewhere(const std::string& name) {
    store::Owner owner = launch(name);
    owner.host = "another/boot/pid:[1]";
    return owner;
  }
  /// A process of this machine that is gone.
  static store::Owner dead(const std::string& name) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    store::Owner owner = launch(name);
    owner.process = pid;
    owner.started = os::process_started(pid);
    ::waitpid(pid, nullptr, 0);
    return owner;
  }
  void leave(const store::Owner& owner) { ASSERT_TRUE(store_->set_owner("app", store_->owner("app").value(), owner)); }
  // Flips a bit of the record's text about the job.
  void damage() {
    const std::string path = directory_ / "store/app/.owner";
    std::string content;
    {
      std::ifstream file(path);
      content.assign(std::istreambuf_iterator<char>(file), {});
    }
    content[content.find("default")] ^= 2;
    ASSERT_TRUE(os::write_file_atomically(path, base::as_bytes(content)));
  }
  store::Owner there() { return store_->owner("app").value().value(); }

  test_support::TemporaryDirectory directory_;
  std::unique_ptr<store::Store> store_ = store::make_store(directory_ / "store").value();
};

TEST_F(NameClaim, IsMadeAtTheFirstWriteRenewedAndFreeAtTheEnd) {
  NameClaims mine(*store_, launch("mine"));
  ASSERT_TRUE(mine.hold("app", Access::read));
  EXPECT_EQ(store_->owner("app").value(), std::nullopt) << "a reader of what nobody owns takes nothing";
  ASSERT_TRUE(mine.hold("app", Access::write));
  const auto first = there();
  EXPECT_EQ(first.launch, "mine");
  EXPECT_EQ(first.process, ::getpid());
  EXPECT_TRUE(eventually("it is renewed", [&] { return there().beat != first.beat; }));
  ASSERT_TRUE(mine.hold("app", Access::write));
  mine.release();
  EXPECT_TRUE(there().ended);
  NameClaims next(*store_, elsewhere("next"));
  EXPECT_TRUE(next.hold("app", Access::write)) << "at once";
  EXPECT_EQ(there().launch, "next");
}

TEST_F(NameClaim, SeesThePlaceOfTheNameAndThatItIsAnother) {
  NameClaims mine(*store_, launch("mine"));
  ASSERT_TRUE(mine.hold("app", Access::read));
  EXPECT_EQ(mine.incarnation("app"), store::kNoIncarnation) << "a reader makes none";
  ASSERT_TRUE(mine.hold("app", Access::write));
  const auto first = mine.incarnation("app");
  EXPECT_EQ(first, store_->incarnation("app", store::Missing::leave).value());
  EXPECT_GT(first, store::kNoIncarnation);
  // Moves it in one step: the owner of the name writes its record again beside us.
  std::filesystem::rename(directory_ / "store", directory_ / "gone");
  EXPECT_EQ(mine.incarnation("app"), first) << "it may be unmounted";
  ASSERT_TRUE(store_->prepare());
  EXPECT_TRUE(eventually("the name has another place", [&] { return mine.incarnation("app") != first; }));
  EXPECT_EQ(mine.incarnation("app"), store_->incarnation("app", store::Missing::leave).value());
}

TEST_F(NameClaim, OfAStoreThatIsNotThereAtTheFirstLookNothingIsThere) {
  std::filesystem::remove_all(directory_ / "store");
  NameClaims mine(*store_, launch("mine"));
  ASSERT_TRUE(mine.hold("app", Access::read));
  EXPECT_EQ(mine.incarnation("app"), store::kNoIncarnation);
}

TEST_F(NameClaim, OfAProcessThatIsGoneFromThisMachineIsTakenAtOnce) {
  leave(dead("earlier"));
  NameClaims mine(*store_, this_launch("default", "", "mine", 3'600'000'000'000));
  ASSERT_TRUE(mine.hold("app", Access::read));
  EXPECT_EQ(there().launch, "mine");
}

TEST_F(NameClaim, OfANumberThatAnotherProcessHasByNowIsTakenAtOnce) {
  store::Owner owner = launch("earlier");
  owner.process = ::getppid();
  owner.started = 1;
  leave(owner);
  NameClaims mine(*store_, this_launch("default", "", "mine", 3'600'000'000'000));
  ASSERT_TRUE(mine.hold("app", Access::write));
}

TEST_F(NameClaim, OfALivingLaunchElsewhereIsRefusedWithWhoWhereAndSinceWhen) {
  NameClaims theirs(*store_, elsewhere("theirs"));
  ASSERT_TRUE(theirs.hold("app", Access::write));
  for (const Access access : {Access::read, Access::write}) {
    NameClaims mine(*store_, launch("mine"));
    const auto refused = mine.hold("app", access);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_BUSY);
    EXPECT_THAT(refused.error().text(), HasSubstr("checkpoint app: another launch writes it: job 'default' of "));
    EXPECT_THAT(refused.error().text(),
                HasSubstr("process " + std::to_string(::getpid()) + " on host another, since "));
  }
  EXPECT_EQ(there().launch, "theirs");
  EXPECT_TRUE(theirs.hold("app", Access::write));
}

// No clocks are compared: the record is watched for a whole lease.
TEST_F(NameClaim, OfALaunchElsewhereThatSaysNothingIsTakenAfterItsLease) {
  leave(elsewhere("earlier"));
  NameClaims mine(*store_, launch("mine"));
  const std::uint64_t begun = os::monotonic_ns();
  ASSERT_TRUE(mine.hold("app", Access::write));
  EXPECT_GE(os::monotonic_ns() - begun, kLease_ns);
  EXPECT_EQ(there().launch, "mine");
}

TEST_F(NameClaim, OfAProcessThatLivesHereAndCannotRenewIsRefusedAfterTheLease) {
  store::Owner owner = launch("hung");
  owner.process = ::getppid();
  owner.started = os::process_started(owner.process);
  leave(owner);
  NameClaims mine(*store_, launch("mine"));
  EXPECT_EQ(mine.hold("app", Access::write).error().code, PERDURE_BUSY);
  EXPECT_EQ(there(), owner);
}

TEST_F(NameClaim, OfTheSameLaunchOnAnotherMachineIsItsOwn) {
  leave(elsewhere("run-1"));
  NameClaims mine(*store_, this_launch("default", "", "run-1", 3'600'000'000'000));
  ASSERT_TRUE(mine.hold("app", Access::read)) << "perdure run began it again on other nodes";
}

TEST_F(NameClaim, OfAnotherJobIsRefusedAlsoWhenThatHasEnded) {
  store::Owner owner = dead("earlier");
  owner.job = "other";
  owner.ended = true;
  leave(owner);
  for (const Access access : {Access::read, Access::write}) {
    NameClaims mine(*store_, launch("mine"));
    const auto refused = mine.hold("app", access);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_MISMATCH);
    EXPECT_THAT(refused.error().text(), HasSubstr("perdure forget app"));
  }
}

TEST_F(NameClaim, OfAnotherCaseIsRefusedWhereBothAreKnown) {
  const auto of_case = [](const std::string& study) { return this_launch("default", study, "mine", kLease_ns); };
  { ASSERT_TRUE(NameClaims(*store_, of_case("re=100")).hold("app", Access::write)); }
  { ASSERT_TRUE(NameClaims(*store_, of_case("")).hold("app", Access::write)) << "nothing is said"; }
  EXPECT_EQ(there().study, "re=100") << "it is still known";
  NameClaims other(*store_, of_case("re=200"));
  const auto refused = other.hold("app", Access::read);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_MISMATCH);
  EXPECT_THAT(refused.error().text(), HasSubstr("belongs to case 're=100', this is case 're=200'"));
  EXPECT_TRUE(NameClaims(*store_, of_case("re=100")).hold("app", Access::read));
}

// The owner was suspended for so long that others took it for dead: it must not write beside them.
TEST_F(NameClaim, ThatWasLostIsToldAtTheNextUse) {
  NameClaims mine(*store_, launch("mine"));
  ASSERT_TRUE(mine.hold("app", Access::write));
  store::Owner next = elsewhere("next");
  ASSERT_TRUE(
      eventually("somebody else takes it", [&] { return store_->set_owner("app", there(), next).has_value(); }));
  EXPECT_TRUE(eventually("it is told that it lost the name", [&] { return !mine.hold("app", Access::write); }));
  const auto refused = mine.hold("app", Access::write);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_BUSY);
  mine.release();
  EXPECT_EQ(there(), next) << "what is another's is left as it is";
}

TEST_F(NameClaim, ThatARestartOfTheSameLaunchTookIsLostToo) {
  NameClaims mine(*store_, launch("run-1"));
  ASSERT_TRUE(mine.hold("app", Access::write));
  NameClaims restarted(*store_, elsewhere("run-1"));
  ASSERT_TRUE(restarted.hold("app", Access::write));
  EXPECT_TRUE(eventually("it is told that it lost the name", [&] { return !mine.hold("app", Access::write); }));
  EXPECT_FALSE(mine.hold("app", Access::write));
  EXPECT_TRUE(restarted.hold("app", Access::write));
}

TEST_F(NameClaim, OnAStoreThatIsNotThereIsTakenLaterByAReaderAndMakesItForAWriter) {
  const auto store = store::make_store(directory_ / "none").value();
  NameClaims mine(*store, launch("mine"));
  EXPECT_TRUE(mine.hold("app", Access::read));
  EXPECT_FALSE(store->names());
  EXPECT_TRUE(mine.hold("app", Access::write));
  EXPECT_EQ(store->owner("app").value().value().launch, "mine");
}

TEST_F(NameClaim, WhoseRecordIsDamagedIsTakenAfterALeaseWithAReport) {
  for (const Access access : {Access::read, Access::write}) {
    leave(elsewhere("earlier"));
    damage();
    NameClaims mine(*store_, launch("mine"));
    const std::uint64_t begun = os::monotonic_ns();
    ASSERT_TRUE(mine.hold("app", access));
    EXPECT_GE(os::monotonic_ns() - begun, kLease_ns) << "whoever lives had the time to write it again";
    EXPECT_EQ(there().launch, "mine");
    EXPECT_THAT(mine.news(), testing::ElementsAre(HasSubstr("/app/.owner was damaged")));
    EXPECT_THAT(mine.news(), testing::IsEmpty()) << "once";
  }
}

TEST_F(NameClaim, WhoseRecordIsDamagedIsWrittenAgainByItsOwnerWhoLives) {
  NameClaims theirs(*store_, elsewhere("theirs"));
  ASSERT_TRUE(theirs.hold("app", Access::write));
  damage();
  NameClaims mine(*store_, launch("mine"));
  const auto refused = mine.hold("app", Access::write);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_BUSY);
  EXPECT_EQ(there().launch, "theirs");
  damage();
  theirs.release();
  EXPECT_TRUE(there().ended) << "the end is written over the damage";
  EXPECT_TRUE(mine.hold("app", Access::write)) << "at once";
}

// A store that takes nothing now is a matter for the flush, and restores read the versions that are there.
TEST_F(NameClaim, WhoseRecordIsDamagedAndCannotBeReplacedStopsNobody) {
  leave(elsewhere("earlier"));
  damage();
  os::FaultRules faults(os::parse_fault_rules("rename:/app/.owner:EROFS").value());
  const test_support::InstalledHooks installed(faults);
  NameClaims mine(*store_, launch("mine"));
  EXPECT_TRUE(mine.hold("app", Access::read));
  EXPECT_FALSE(store_->owner("app"));
  EXPECT_THAT(mine.news(), testing::IsEmpty());
}

}  // namespace
}  // namespace perdure::client
