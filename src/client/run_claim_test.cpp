// Only one process brought back of a name runs at a time.
#include "client/run_claim.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "client/name_claims.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A store that has a checkpoint `image`.
class RunClaims : public testing::Test {
 protected:
  void SetUp() override {
    store_ = store::make_store(directory_ / "store").value();
    ASSERT_TRUE(store_->prepare());
    ASSERT_TRUE(store_->set_owner("image", std::nullopt, this_launch("default", "", "", 1)));
  }
  base::Result<std::unique_ptr<RunClaim>> take(const std::string& lease, bool again = false) {
    config::Config config;
    EXPECT_TRUE(config.set_all("store.path=" + (directory_ / "store"), config::Origin::command_line, "test"));
    EXPECT_TRUE(config.set_all("checkpoint.lease=" + lease, config::Origin::command_line, "test"));
    return RunClaim::take(config, "image", again);
  }
  std::optional<store::Owner> runner() { return store::runner(*store_, "image").value(); }
  /// Writes another process's record, as one on another machine would.
  void write(store::Owner owner) {
    owner.beat = runner() ? runner()->beat + 1 : 1;
    ASSERT_TRUE(store::set_runner(*store_, "image", runner(), owner));
  }
  static store::Owner elsewhere(std::uint64_t lease_ns) {
    store::Owner owner = this_launch("default", "", "another", lease_ns);
    owner.host = "elsewhere/boot/pid:[1]";
    return owner;
  }
  test_support::TemporaryDirectory directory_;
  std::unique_ptr<store::Store> store_;
};

TEST_F(RunClaims, OfAProcessThatLivesHereRefusesASecondOneAtOnceAndSaysWhoItIs) {
  const auto first = take("3600");
  ASSERT_TRUE(first);
  const auto second = take("3600");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, PERDURE_BUSY);
  EXPECT_THAT(second.error().text(), AllOf(HasSubstr("it runs already"), HasSubstr(std::to_string(::getpid())),
                                           HasSubstr("since"), HasSubstr("--again")));
}

TEST_F(RunClaims, AreGivenBackAtTheEndAndNameTheProcessThatRuns) {
  {
    auto claim = take("3600");
    ASSERT_TRUE(claim);
    (*claim)->runs(1);
    EXPECT_EQ(runner()->process, 1);
    EXPECT_EQ(runner()->started, os::process_started(1));
    EXPECT_FALSE(runner()->ended);
  }
  EXPECT_TRUE(runner()->ended);
  EXPECT_TRUE(take("3600"));
}

TEST_F(RunClaims, OfAProcessThatHasEndedHereAreTakenAtOnce) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  store::Owner dead = this_launch("default", "", "another", 3'600'000'000'000);
  dead.process = child;
  dead.started = os::process_started(child);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  write(dead);
  EXPECT_TRUE(take("3600"));
}

TEST_F(RunClaims, ThatAreLeftAreThoseOfTheProcess) {
  auto claim = take("3600");
  ASSERT_TRUE(claim);
  (*claim)->runs(1);
  (*claim)->leave();
  claim->reset();
  EXPECT_FALSE(runner()->ended);
  EXPECT_EQ(take("3600").error().code, PERDURE_BUSY);
}

TEST_F(RunClaims, OfAnotherMachineThatAreRenewedRefuse) {
  write(elsewhere(3'600'000'000'000));
  std::atomic<bool> over{false};
  std::thread renewing([&] {
    for (; !over; os::sleep_ns(5'000'000)) {  // wait: somebody renews it now and then
      store::Owner next = *runner();
      ++next.beat;
      (void)store::set_runner(*store_, "image", runner(), next);
    }
  });
  const auto taken = take("3600");
  over = true;
  renewing.join();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, PERDURE_BUSY);
}

TEST_F(RunClaims, OfAnotherMachineThatNobodyRenewsAreTaken) {
  write(elsewhere(100'000'000));
  const auto taken = take("0.1");
  ASSERT_TRUE(taken);
  EXPECT_EQ(runner()->host, os::process_space());
}

TEST_F(RunClaims, AreRenewedAsLongAsTheyLive) {
  const auto claim = take("0.1");
  ASSERT_TRUE(claim);
  const std::uint64_t first = runner()->beat;
  EXPECT_TRUE(test_support::eventually("it is renewed three times", [&] { return runner()->beat >= first + 3; }));
}

TEST_F(RunClaims, ThatWereTakenFromSomebodyAgainStayTheirs) {
  auto first = take("0.1");
  ASSERT_TRUE(first);
  store::Owner theirs = elsewhere(3'600'000'000'000);
  for (bool written = false; !written; theirs.beat += 7)
    written = store::set_runner(*store_, "image", runner(), theirs).has_value();
  first->reset();
  EXPECT_EQ(runner()->host, theirs.host);
  EXPECT_FALSE(runner()->ended) << "it is not ours any more";
  EXPECT_TRUE(take("3600", true));
  EXPECT_NE(runner()->host, theirs.host);
}

TEST_F(RunClaims, OfWhatIsNotThereMakeNothing) {
  config::Config config;
  ASSERT_TRUE(config.set_all("store.path=" + (directory_ / "store"), config::Origin::command_line, "test"));
  EXPECT_TRUE(RunClaim::take(config, "nobody", false));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "store/nobody"));
}

}  // namespace
}  // namespace perdure::client
