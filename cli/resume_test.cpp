// perdure resume resumes real programs.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <array>

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
  /// The program itself becomes our child when `perdure resume` has ended.
  Orphans orphans_;
  ProcessPlace place_;
  Patient patient_{place_};
};

TEST_F(Resume, InTheForegroundPassesSignalsOnAndEndsWithTheProgramsStatus) {
  Perdure perdure(place_, {"resume", "patient"});
  ASSERT_TRUE(perdure.says("goes on as process")) << perdure.err();
  ::kill(perdure.process(), SIGUSR2);
  wait_for_file(place_.file("heard"));
  touch(place_.file("end"));
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
  EXPECT_EQ(content_of(place_.file("output")), "wrong: no\n");
}

TEST_F(Resume, OfAProgramThatIsKilledEndsAsAShellSaysIt) {
  Perdure perdure(place_, {"resume", "patient"});
  ASSERT_TRUE(perdure.says("goes on as process")) << perdure.err();
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
  const Ran ran = Perdure(place_, {"resume", "patient", "--of-others"}, {}, 65534).wait();
  if (ran.status == 127) GTEST_SKIP() << "other users cannot start what was built here";
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("it is of user 0")) << ran.err;
}

// Another user who may write there could have code run as the user who resumes the image.
TEST_F(Resume, OutOfAStoreWhereOthersMayWriteIsRefusedUnlessItIsAskedFor) {
  const std::string version = place_.store + "/patient/1";
  std::filesystem::permissions(version, std::filesystem::perms(0777));
  const Ran refused = Perdure(place_, {"resume", "patient", "--detach"}).wait();
  EXPECT_EQ(refused.status, kCannot);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(version + ": others may write there"), HasSubstr("--of-others")));
  const Ran ran = resumed(place_, {"patient", "--detach", "--of-others"});
  ASSERT_EQ(ran.status, kGood) << ran.err;
  patient_.lives_again();
  EXPECT_EQ(patient_.end(), Patient::kStatus);
}

TEST_F(Resume, TellsThatFilesHaveChanged) {
  std::ofstream(place_.file("beats"), std::ios::app) << "somebody else's\n";
  touch(place_.file("end"));
  const Ran ran = resumed(place_, {"patient"});
  EXPECT_EQ(ran.status, Patient::kStatus);
  EXPECT_THAT(ran.err, HasSubstr(place_.file("beats")));
}

class ResumeThatCutsFilesBack : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  Orphans orphans_;
  ProcessPlace place_;
  Patient patient_{place_};
};

TEST_P(ResumeThatCutsFilesBack, ChangesNothingWhileTheProgramRuns) {
  ASSERT_EQ(Perdure(place_, {"capture", patient_.number()}).wait().status, kGood);
  patient_.works();
  std::vector<std::string> words = {"resume", "patient", "--cut-back-files"};
  words.insert(words.end(), GetParam().begin(), GetParam().end());
  const Ran ran = Perdure(place_, words).wait();
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("process " + patient_.number()), HasSubstr("open for writing"),
                             HasSubstr(place_.file("beats"))));
  patient_.works();
  EXPECT_EQ(patient_.end(), Patient::kStatus);
  EXPECT_EQ(wrong_in_beats(patient_.beats()), "");
  EXPECT_FALSE(std::filesystem::exists(place_.file("beats.cut-1")));
}

TEST_P(ResumeThatCutsFilesBack, KeepsWhatItCutsOff) {
  ASSERT_EQ(Perdure(place_, {"capture", patient_.number()}).wait().status, kGood);
  patient_.works();
  patient_.kill();
  const std::string before = patient_.beats();
  std::vector<std::string> words = {"patient", "--cut-back-files"};
  words.insert(words.end(), GetParam().begin(), GetParam().end());
  touch(place_.file("end"));
  const Ran ran = resumed(place_, words);
  EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("it was cut back to the"), HasSubstr("beats.cut-1'")));
  EXPECT_EQ(wrong_in_beats(patient_.beats()), "");
  const std::string cut = content_of(place_.file("beats.cut-1"));
  EXPECT_FALSE(cut.empty());
  EXPECT_TRUE(before.ends_with(cut));
}

INSTANTIATE_TEST_SUITE_P(Each, ResumeThatCutsFilesBack,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--lazy"},
                                         std::vector<std::string>{"--name-space"}),
                         [](const auto& of) {
                           return of.param.empty() ? "Plain" : of.param[0] == "--lazy" ? "Lazy" : "InANameSpace";
                         });

/// Sets cap_checkpoint_restore+ep, as setcap does.
bool give_capability(const std::string& program) {
  constexpr std::array<std::uint32_t, 5> kData = {0x02000001, 0, 0, 1U << (40 - 32), 0};  // low and high words in turn
  return ::setxattr(program.c_str(), "security.capability", kData.data(), sizeof kData, 0) == 0;
}

/// Captures, ends and resumes a program, and prints its rights then. Another process may use a number for a moment.
constexpr const char* kByAUser = R"(
cd "$1" || exit 10
./patient "$1" 7 </dev/null >/dev/null 2>&1 & pid=$!
until [ -d ready ]; do sleep 0.05; done
./perdure capture $pid --name p --stop >capture 2>&1 || { cat capture; exit 11; }
wait $pid
until ./perdure resume p --detach >resume 2>&1; do grep -q '(exists)' resume || { cat resume; exit 12; }; done
grep -E '^Cap(Prm|Eff)' /proc/$pid/status
[ -O /proc/$pid/maps ] || echo 'it is not its own'
touch end
)";

TEST(ResumeByAUser, WithTheOneCapabilityGivesItToNobody) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ProcessPlace place;
  const Orphans orphans;
  const auto known = Orphans::all();
  ::chmod(std::string(place.directory / ".").c_str(), 0755);
  ::chmod(place.files.c_str(), 0777);
  std::filesystem::copy_file(PERDURE_PROGRAM, place.file("perdure"));
  std::filesystem::copy_file(PERDURE_PATIENT, place.file("patient"));
  if (!give_capability(place.file("perdure"))) GTEST_SKIP() << "this file system keeps no capabilities of programs";
  const std::string output = place.directory / "said";
  const pid_t user = ::fork();
  if (user == 0) {
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    ::dup2(1, 2);
    ::close_range(3, ~0U, 0);
    ::setenv("PERDURE_STORE_PATH", place.file("store").c_str(), 1);
    ::setenv("PERDURE_NODE_PATH", place.file("node").c_str(), 1);
    ::setenv("PERDURE_TIER_FILE_PATH", place.file("node-files").c_str(), 1);
    if (::setgroups(0, nullptr) != 0 || ::setgid(12345) != 0 || ::setuid(12345) != 0) ::_exit(126);
    ::execl("/bin/sh", "sh", "-c", kByAUser, "sh", place.files.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(user, &status, 0), user);
  const std::string said = content_of(output);
  EXPECT_EQ(status, 0) << said;
  EXPECT_EQ(said, "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n");
  touch(place.file("end"));
  Orphans::wait_for_others(known);
}

}  // namespace
}  // namespace perdure::cli
