// perdure capture --tree captures a program with its children, and resume brings them back. The tests run the real
// programs.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli/processes_testing.hpp"
#include "os/crash_point.hpp"
#include "process/held_tree.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

/// The program `family`, which continues until it is told to end.
class Family {
 public:
  explicit Family(const ProcessPlace& place) : program_({PERDURE_FAMILY, "0", "wait"}, place.file("output")) {
    EXPECT_TRUE(eventually("all of it is there, and goes round",
                           [this] { return process::list_tree(process()).size() >= kProcesses && goes_round(); }));
  }
  static constexpr std::size_t kProcesses = 6;  // two of them have ended
  pid_t process() const { return program_.process(); }
  std::string number() const { return std::to_string(process()); }
  /// Returns the content of /proc for the living processes.
  std::string view() const {
    std::string all;
    for (const pid_t one : process::list_tree(process()))
      if (!process::has_process_ended(one)) all += view_of(one);
    return all;
  }
  int end() {
    ::kill(process(), SIGUSR1);
    return program_.end();
  }
  int was_killed() { return program_.end(); }

 private:
  /// After its first turn, it neither starts processes nor closes descriptors.
  bool goes_round() const {
    const std::string descriptors = "/proc/" + number() + "/fd";
    std::error_code error;
    for (std::filesystem::directory_iterator at(descriptors, error), end; !error && at != end; at.increment(error)) {
      std::error_code gone;
      if (std::filesystem::read_symlink(at->path(), gone).string().starts_with("/memfd:together"))
        return std::filesystem::file_size(at->path(), gone) > 0 && !gone;
    }
    return false;
  }
  process::Program program_;
};

class CapturedTrees : public testing::Test {
 protected:
  /// Runs `meanwhile` while the program runs. Tries again if the number is taken: concurrent tests make processes,
  /// whose numbers are soon free again.
  Ran resumed_and_told_to_end(
      const std::vector<std::string>& more = {}, const std::function<void()>& meanwhile = [] {}) {
    std::vector<std::string> words = {"resume", "family"};
    words.insert(words.end(), more.begin(), more.end());
    for (;;) {
      Perdure resume(place_, words);
      const bool runs = resume.says("goes on");
      if (runs) meanwhile();
      if (runs) ::kill(resume.process(), SIGUSR1);
      Ran ended = resume.wait();
      if (runs || ended.err.find("(exists)") == std::string::npos) return ended;
    }
  }
  Orphans orphans_;
  ProcessPlace place_;
};

TEST_F(CapturedTrees, ComeBackAsOneAfterTheyWereStoppedAsOne) {
  std::set<pid_t> processes;
  {
    Family family(place_);
    const Ran alone = Perdure(place_, {"capture", family.number(), "--name", "family"}).wait();
    EXPECT_EQ(alone.status, kCannot);
    EXPECT_THAT(alone.err, HasSubstr("--tree"));
    for (const pid_t one : process::list_tree(family.process())) processes.insert(one);
    const Ran ran =
        Perdure(place_, {"capture", family.number(), "--tree", "--stop", "--json", "--name", "family"}).wait();
    ASSERT_EQ(ran.status, kGood) << ran.err;
    EXPECT_EQ(ran.json()["processes"].size(), 4U);
    EXPECT_EQ(family.was_killed(), -SIGKILL);
    const Ran inspected = Perdure(place_, {"inspect", "family"}).wait();
    EXPECT_THAT(inspected.out, HasSubstr("processes")) << inspected.err;
    Orphans::wait_for_others({});
    for (const pid_t one : processes) EXPECT_NE(::kill(one, 0), 0) << one;
  }
  const Ran ended = resumed_and_told_to_end();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("and 3 more"));
  EXPECT_THAT(content_of(place_.file("output")), HasSubstr("wrong 0"));
}

TEST_F(CapturedTrees, ComeBackOnceAndWithTheirOwnNumbersAndPages) {
  {
    Family family(place_);
    const Ran ran = Perdure(place_, {"capture", family.number(), "--tree", "--stop", "--name", "family"}).wait();
    ASSERT_EQ(ran.status, kGood) << ran.err;
    EXPECT_EQ(family.was_killed(), -SIGKILL);
    Orphans::wait_for_others({});
  }
  const Ran elsewhere = Perdure(place_, {"resume", "family", "--name-space"}).wait();
  EXPECT_EQ(elsewhere.status, kCannot);
  EXPECT_THAT(elsewhere.err, HasSubstr("without --name-space"));
  const Ran ended = resumed_and_told_to_end({"--lazy"}, [&] {
    const Ran second = Perdure(place_, {"resume", "family"}).wait();
    EXPECT_EQ(second.status, kCannot);
    EXPECT_THAT(second.err, HasSubstr("(busy)"));
  });
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("all pages came before they ran"));
  EXPECT_THAT(content_of(place_.file("output")), HasSubstr("wrong 0"));
}

TEST_F(CapturedTrees, GoOnWhenTheCaptureIsKilled) {
  Family family(place_);
  const std::string before = family.view();
  for (const auto& point : os::kToolCrashPoints) {
    if (!std::string_view(point.name).starts_with("process_")) continue;
    SCOPED_TRACE(point.name);
    const Ran killed = Perdure(place_, {"capture", family.number(), "--tree", "--name", "family"},
                               {"PERDURE_TEST_CRASH=" + std::string(point.name)})
                           .wait();
    EXPECT_EQ(killed.status, -SIGKILL) << killed.err;
    Orphans::wait_for_others({family.process()});
    EXPECT_EQ(family.view(), before);
  }
  EXPECT_EQ(family.end(), 0);
  EXPECT_THAT(content_of(place_.file("output")), HasSubstr("wrong 0"));
}

}  // namespace
}  // namespace perdure::cli
