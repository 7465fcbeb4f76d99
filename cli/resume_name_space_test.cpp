// perdure resume uses a name space of its own, and other users may not resume a running program again. The tests run
// real programs.
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "cli/processes_testing.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Returns the value of a line of /proc/PID/status.
std::string status_of(pid_t process, const std::string& name) {
  std::istringstream status(content_of("/proc/" + std::to_string(process) + "/status"));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return line.substr(line.find_first_not_of("\t ", name.size() + 1));
  return "";
}

/// Returns the number by which a process knows itself.
std::string innermost_number(pid_t process) {
  const std::string all = status_of(process, "NSpid");
  return all.substr(all.find_last_of("\t ") + 1);
}

/// Returns the number for others that `perdure resume` prints.
pid_t number_elsewhere(const std::string& said) {
  const std::string before = "elsewhere that is ";
  const auto at = said.find(before);
  return at == std::string::npos ? 0 : std::atoi(said.c_str() + at + before.size());
}

/// Captures and resumes as a user without rights may do.
void capture_and_bring_back() {
  const Orphans orphans;
  ProcessPlace place;
  Patient patient(place);
  const std::string number = patient.number();
  const Ran captured = Perdure(place, {"capture", number, "--stop"}).wait();
  ASSERT_EQ(captured.status, kGood) << captured.err;
  ASSERT_EQ(patient.was_killed(), -SIGKILL);
  Perdure perdure(place, {"resume", "patient"});
  ASSERT_TRUE(perdure.says("goes on as process")) << perdure.err();
  EXPECT_THAT(perdure.err(), HasSubstr("it knows itself by the number " + number));
  const pid_t elsewhere = number_elsewhere(perdure.err());
  EXPECT_EQ(innermost_number(elsewhere), number);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(elsewhere) + "/task"))
    EXPECT_EQ(status_of(std::atoi(entry.path().filename().c_str()), "CapEff"), "0000000000000000");
  ::kill(perdure.process(), SIGUSR2);
  wait_for_file(place.file("heard"));
  touch(place.file("end"));
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
  EXPECT_EQ(content_of(place.file("output")), "wrong: no\n");
  EXPECT_EQ(Orphans::all(), std::set<pid_t>());
}

TEST(ResumeInANameSpace, OfAUserWithoutRightsKeepsItsNumbers) {
  constexpr uid_t kNobody = 65534;
  constexpr int kNoPrograms = 77, kNoNameSpaces = 78;
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0 || ::access(PERDURE_PATIENT, X_OK) != 0 ||
        ::access(PERDURE_PROGRAM, X_OK) != 0)
      ::_exit(kNoPrograms);
    const pid_t tries = ::fork();
    if (tries == 0) ::_exit(::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 ? 0 : 1);
    int status = 0;
    ::waitpid(tries, &status, 0);
    if (status != 0) ::_exit(kNoNameSpaces);
    capture_and_bring_back();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (status == kNoPrograms << 8) GTEST_SKIP() << "other users cannot start what was built here";
  if (status == kNoNameSpaces << 8) GTEST_SKIP() << "this system lets users make no name spaces";
  EXPECT_EQ(status, 0);
}

/// A program that was captured, and continues.
class ResumeAgain : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(Perdure(place_, {"capture", patient_.number()}).wait().status, kGood); }
  Orphans orphans_;
  ProcessPlace place_;
  Patient patient_{place_};
};

TEST_F(ResumeAgain, WhoseNumberIsTakenGoesOnInANameSpaceOfItsOwn) {
  const Ran refused = Perdure(place_, {"resume", "patient"}).wait();
  EXPECT_EQ(refused.status, kCannot);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("its number is taken, by 'patient'"), HasSubstr("--name-space")));
  const Ran ran = Perdure(place_, {"resume", "patient", "--name-space", "--detach", "--json"}).wait();
  ASSERT_EQ(ran.status, kGood) << ran.err;
  const pid_t process = ran.json()["process"];
  EXPECT_NE(process, patient_.process());
  EXPECT_EQ(innermost_number(process), patient_.number());
  const Ran second = Perdure(place_, {"resume", "patient", "--name-space"}).wait();
  EXPECT_EQ(second.status, kCannot);
  EXPECT_THAT(second.err, AllOf(HasSubstr("it runs already"), HasSubstr("process " + std::to_string(process))));
  Perdure third(place_, {"resume", "patient", "--name-space", "--again"});
  ASSERT_TRUE(third.says("goes on as process")) << third.err();
  EXPECT_EQ(patient_.end(), Patient::kStatus);
  EXPECT_EQ(third.wait().status, Patient::kStatus);
  Orphans::wait_for_others({});
}

TEST_F(ResumeAgain, AfterItsEndNeedsNoWord) {
  patient_.kill();
  Perdure first(place_, {"resume", "patient", "--name-space"});
  ASSERT_TRUE(first.says("goes on as process")) << first.err();
  ::kill(first.process(), SIGTERM);
  EXPECT_EQ(first.wait().status, 128 + SIGTERM);
  touch(place_.file("end"));
  const Ran ran = resumed(place_, {"patient"});
  EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
}

TEST_F(ResumeAgain, KilledAtAnyStepInANameSpaceLeavesNoProcess) {
  patient_.kill();
  const std::string beats = patient_.beats();
  for (const char* point : {"resume_begun", "resume_written", "resume_finished"}) {
    const Ran killed =
        Perdure(place_, {"resume", "patient", "--name-space"}, {std::string("PERDURE_TEST_CRASH=") + point}).wait();
    EXPECT_EQ(killed.status, -SIGKILL) << killed.err;
    Orphans::wait_for_others({});
    EXPECT_EQ(patient_.beats(), beats);
  }
  const Ran gone =
      Perdure(place_, {"resume", "patient", "--name-space", "--detach"}, {"PERDURE_TEST_CRASH=resume_released"}).wait();
  EXPECT_EQ(gone.status, -SIGKILL) << gone.err;
  patient_.works();
  touch(place_.file("end"));
  Orphans::wait_for_others({});
  EXPECT_EQ(content_of(place_.file("output")), "wrong: no\n");
}

}  // namespace
}  // namespace perdure::cli
