// perdure resume, with real programs.
#include <gtest/gtest.h>

#include "cli/processes_testing.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A program that was captured, and has ended.
class Resume : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Perdure(place_, {"capture", patient_.number(), "--stop"}).wait().status, kGood);
    ASSERT_EQ(patient_.was_killed(), -SIGKILL);
  }
  /// The program itself is our child when `perdure resume` has ended.
  Orphans orphans_;
  ProcessPlace place_;
  Patient patient_{place_};
};

TEST_F(Resume, InTheForegroundPassesSignalsOnAndEndsWithTheProgramsStatus) {
  Perdure perdure(place_, {"resume", "patient"});
  while (perdure.err().find("goes on as process") == std::string::npos) os::sleep_ns(2'000'000);
  ::kill(perdure.process(), SIGUSR2);
  wait_for_file(place_.file("heard"));
  touch(place_.file("end"));
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
  EXPECT_EQ(content_of(place_.file("output")), "wrong: no\n");
}

TEST_F(Resume, OfAProgramThatIsKilledEndsAsAShellSaysIt) {
  Perdure perdure(place_, {"resume", "patient"});
  while (perdure.err().find("goes on as process") == std::string::npos) os::sleep_ns(2'000'000);
  ::kill(perdure.process(), SIGTERM);
  EXPECT_EQ(perdure.wait().status, 128 + SIGTERM);
}

TEST_F(Resume, DetachedReturnsWhileItRuns) {
  const Ran ran = resumed(place_, {"patient@1", "--detach", "--json"});
  ASSERT_EQ(ran.status, kGood) << ran.err;
  EXPECT_EQ(ran.json()["threads"], 3);
  EXPECT_EQ(ran.json()["version"], 1);
  patient_.lives_again();
  EXPECT_EQ(ran.json()["process"], patient_.process());
  patient_.works();
  const Ran twice = Perdure(place_, {"resume", "patient"}).wait();
  EXPECT_EQ(twice.status, kCannot);
  EXPECT_THAT(twice.err,
              AllOf(HasSubstr("it runs already"), HasSubstr("process " + patient_.number()), HasSubstr("end it")));
  EXPECT_EQ(patient_.end(), Patient::kStatus);
}

TEST_F(Resume, TwiceAtOnceMakesOneProcess) {
  Perdure one(place_, {"resume", "patient", "--detach"}), other(place_, {"resume", "patient", "--detach"});
  const Ran first = one.wait(), second = other.wait();
  EXPECT_EQ(std::min(first.status, second.status), kGood) << first.err << second.err;
  EXPECT_EQ(std::max(first.status, second.status), kCannot) << first.err << second.err;
  patient_.lives_again();
  EXPECT_EQ(patient_.end(), Patient::kStatus);
  EXPECT_EQ(content_of(place_.file("output")), "wrong: no\n");
}

TEST_F(Resume, OfAnOrdinaryCheckpointIsRefused) {
  SampleStore ordinary;
  ordinary.add("nbody", 3, 1);
  const Ran ran = Perdure(place_, {"resume", "nbody", "--store", ordinary.path()}).wait();
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("what is stored there is no process"), HasSubstr("the program restores it")));
}

TEST_F(Resume, OfWhatIsNotThereOrIsNoNameIsRefused) {
  EXPECT_EQ(Perdure(place_, {"resume", "nobody"}).wait().status, kCannot);
  EXPECT_EQ(Perdure(place_, {"resume", "patient@9"}).wait().status, kCannot);
  for (const char* name : {"", "@1", "patient@", "patient@x", "../patient"})
    EXPECT_EQ(run_verb({"resume", name}).status, kUsage) << name;
}

TEST_F(Resume, OfAnotherUsersProcessIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  for (const auto& path : {place_.directory.path(), place_.store})
    std::filesystem::permissions(path, std::filesystem::perms(0777));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place_.store))
    std::filesystem::permissions(entry.path(), std::filesystem::perms(0777));
  place_.node = place_.directory / "their-node";
  const Ran ran = Perdure(place_, {"resume", "patient"}, {}, 65534).wait();
  if (ran.status == 127) GTEST_SKIP() << "other users cannot start what was built here";
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("it is of user 0")) << ran.err;
}

TEST_F(Resume, TellsThatFilesHaveChanged) {
  std::ofstream(place_.file("beats"), std::ios::app) << "somebody else's\n";
  touch(place_.file("end"));
  const Ran ran = resumed(place_, {"patient"});
  EXPECT_EQ(ran.status, Patient::kStatus);
  EXPECT_THAT(ran.err, HasSubstr(place_.file("beats")));
}

}  // namespace
}  // namespace perdure::cli
