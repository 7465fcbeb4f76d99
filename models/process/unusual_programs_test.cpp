// Captures, kills and resumes programs with rare features, or of other languages and kinds: they must end as if
// undisturbed.
#include <sys/mman.h>

#include <cstring>

#include "process/facts.hpp"
#include "process/guard.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_lists.hpp"
#include "process/proc_text.hpp"
#include "process/round_trip_testing.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;

constexpr std::array kUnusual = {
    "advised",       "breeds",    "digs",      "five_hundred", "four_thousand", "generated", "grows_down",
    "guarded",       "in_flight", "libraries", "long_waits",   "pending_alarm", "robust",    "thousand_descriptors",
    "thread_memory", "wide"};

/// At times, these have a child, or a file about themselves open.
bool now_and_then(const std::string& name) { return name == "breeds" || name == "advised"; }

class UnusualPrograms : public testing::TestWithParam<const char*> {};

TEST_P(UnusualPrograms, EndAsIfNothingHadBeen) {
  RoundTripper program({PERDURE_UNUSUAL, GetParam()});
  program.may_be_refused = now_and_then(GetParam());
  expect_round_trips(program);
}

TEST_P(UnusualPrograms, ThatGoOnNoticeNothing) {
  RoundTripper program({PERDURE_UNUSUAL, GetParam()});
  program.may_be_refused = now_and_then(GetParam());
  program.go_on(test_support::unless_sanitized(3, 1));
}

INSTANTIATE_TEST_SUITE_P(All, UnusualPrograms, testing::ValuesIn(kUnusual),
                         [](const auto& one) { return std::string(one.param); });

TEST(UnusualProgramsAll, AreTheSameProgramsThatThereAre) {
  test_support::TemporaryDirectory here;
  Program program({PERDURE_UNUSUAL}, here / "list");
  EXPECT_EQ(program.end(), 0);
  std::string listed;
  for (const char* name : kUnusual) listed += std::string(name) + "\n";
  EXPECT_EQ(text_in(here / "list"), listed);
}

// Tests kinds of programs. It skips those whose compiler or library is missing.
void expect_of_kind(const std::string& file, const std::vector<const char*>& names) {
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "it was not built here: '" << file << "'";
  for (const char* name : names) {
    SCOPED_TRACE(name);
    std::vector<std::string> command = {file};
    if (*name != '\0') command.emplace_back(name);
    RoundTripper program(command);
    expect_round_trips(program);
  }
}

TEST(KindsOfPrograms, AreStaticOnes) {
  expect_of_kind(PERDURE_PROGRAMS "/awkward_static", {"throws", "timers", "waits"});
}
TEST(KindsOfPrograms, AreStaticOnesOfAnyPosition) {
  expect_of_kind(PERDURE_PROGRAMS "/awkward_static_pie", {"grows", "hands_on"});
}
TEST(KindsOfPrograms, AreOnesThatAreAtTheirPositionOnly) {
  expect_of_kind(PERDURE_PROGRAMS "/awkward_fixed", {"pending", "views"});
}
TEST(KindsOfPrograms, AreOnesOfOpenMp) { expect_of_kind(PERDURE_PROGRAMS "/teams", {""}); }
TEST(KindsOfPrograms, AreOnesOfFortran) { expect_of_kind(PERDURE_PROGRAMS "/waves", {""}); }

TEST(KindsOfPrograms, AreOnesOfPythonWithNumpy) {
  const char* const python = "/usr/bin/python3";
  if (std::system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no " << python << " with numpy (Debian: python3-numpy)";
  RoundTripper program({python, PERDURE_SUMS});
  expect_round_trips(program);
}

char state_letter(pid_t process) {
  const std::string text = proc_text("/proc/" + std::to_string(process) + "/stat");
  return text.size() < text.rfind(')') + 3 ? 'X' : text[text.rfind(')') + 2];
}

void wait_for_state(pid_t process, const std::string& letters) {
  EXPECT_TRUE(test_support::eventually("the process is in state " + letters,
                                       [&] { return letters.find(state_letter(process)) != std::string::npos; }));
}

pid_t only_child_of(pid_t process) {
  const std::string number = std::to_string(process);
  pid_t child = 0;
  EXPECT_TRUE(test_support::eventually("process " + number + " has a child", [&] {
    child = std::atoi(proc_text("/proc/" + number + "/task/" + number + "/children").c_str());
    return child > 0;
  }));
  return child;
}

// The parent may make a child after it was looked at, and before it stands still.
TEST(ProgramsWithChildren, AreRefusedWhenTheyStandStill) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
    (void)!::write(ends[1], "c", 1);
    ::kill(child, SIGSTOP);
    int status = 0;
    while (::waitpid(child, &status, 0) != child) continue;
    (void)!::write(ends[1], "e", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  const pid_t child = only_child_of(parent);
  const auto of = [&] {
    auto tracee = Tracee::seize(parent);
    EXPECT_TRUE(tracee);
    const auto refused = still_nothing_in_the_way(parent);
    EXPECT_TRUE(tracee->release());
    return refused;
  };
  auto refused = of();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(refused.error().text(), HasSubstr("children that are not captured"));
  ::kill(child, SIGKILL);
  EXPECT_EQ(::read(ends[0], &byte, 1), 1) << "it has heard of its end, which was not taken away";
  refused = of();
  EXPECT_TRUE(refused) << refused.error().text();
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  for (const int end : ends) ::close(end);
}

// The kernel lists mappings in pieces, so a mapping that grows meanwhile may appear twice.
TEST(ProgramsWhoseMappingsChange, CanBeLookedAtWhileTheyRun) {
  constexpr std::size_t kPages = 600;
  auto* const memory = static_cast<char*>(
      ::mmap(nullptr, kPages * kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const pid_t process = ::fork();
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close_range(0, ~0U, 0);
    for (;;)
      for (const int rights : {PROT_READ, PROT_NONE})
        for (std::size_t page = 0; page < kPages; page += 2)
          (void)::mprotect(memory + page * kPageBytes, kPageBytes, rights);
  }
  for (int times = 0; times < test_support::unless_sanitized(100, 30); ++times) {
    const auto looked = look_for_obstacles(process, {});
    ASSERT_TRUE(looked) << looked.error().text();
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  ::munmap(memory, kPages * kPageBytes);
}

// Between its last instruction and its end, a process has threads but no memory. With more memory, this takes longer.
TEST(ProgramsThatEnd, AreGoneFromTheirLastInstructionOn) {
  constexpr std::size_t kBytes = 64 << 20;
  auto* const has_begun = static_cast<std::atomic<bool>*>(
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(has_begun, MAP_FAILED);
  for (int times = 0; times < test_support::unless_sanitized(12, 4); ++times) {
    *has_begun = false;
    const pid_t process = ::fork();
    if (process == 0) {
      ::close_range(0, ~0U, 0);
      void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      *has_begun = true;
      if (memory != MAP_FAILED) std::memset(memory, 1, kBytes);
      ::_exit(0);
    }
    ASSERT_GT(process, 0);
    ASSERT_TRUE(test_support::eventually("the process has begun", [&] { return has_begun->load(); }));
    for (bool ended = false; !ended;) {
      const auto facts = read_facts(process);
      const auto maps = read_maps(process);
      ended = !facts || !maps;
      EXPECT_TRUE(facts || facts.error().code == PERDURE_NOT_FOUND) << facts.error().text();
      EXPECT_TRUE(maps || maps.error().code == PERDURE_NOT_FOUND) << maps.error().text();
      if (maps) {
        EXPECT_THAT(*maps, testing::Not(testing::IsEmpty()));
      }
    }
    ::waitpid(process, nullptr, 0);
  }
  ::munmap(has_begun, kPageBytes);
}

// The parent cannot be stopped in vfork, and its child shares its memory. So it is refused before it is touched.
TEST(ProgramsInVfork, AreRefusedAndNotTouched) {
  test_support::TemporaryDirectory here;
  Program program({PERDURE_UNUSUAL, "in_vfork"}, here / "output");
  const pid_t child = only_child_of(program.process());
  auto guard = Guard::start();
  ASSERT_TRUE(guard);
  for (int times = 0; times < 3; ++times) {
    const auto held = guard->hold({program.process(), {}});
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, PERDURE_UNSUPPORTED) << held.error().text();
    EXPECT_THAT(held.error().text(), HasSubstr("it is in vfork"));
    EXPECT_THAT(held.error().text(), HasSubstr(std::to_string(child)));
  }
  const auto of_child = guard->hold({child, {}});
  ASSERT_FALSE(of_child) << "its memory is its parent's, too";
  EXPECT_EQ(of_child.error().code, PERDURE_UNSUPPORTED) << of_child.error().text();
  EXPECT_EQ(first_number(proc_text("/proc/" + std::to_string(program.process()) + "/status"), "TracerPid"), 0U);
  ::kill(child, SIGUSR1);
  EXPECT_EQ(program.end(), 0);
  EXPECT_EQ(text_in(here / "output"), "begun\nin_vfork 0000000000001267, wrong 0\n");
}

TEST(StoppedPrograms, StayStoppedAndGoOnWhenTheyAreTold) {
  test_support::TemporaryDirectory here;
  Program program({PERDURE_AWKWARD, "waits"}, here / "output");
  wait_for_text(here / "output", "begun");
  ::kill(program.process(), SIGSTOP);
  wait_for_state(program.process(), "T");
  const auto captured = capture_to_memory(program.process());
  ASSERT_TRUE(captured) << captured.error().text();
  wait_for_state(program.process(), "T");
  const std::string so_far = text_in(here / "output");
  EXPECT_EQ(so_far, "begun\n");
  ::kill(program.process(), SIGCONT);
  EXPECT_EQ(program.end(), 0);
  const std::string expected = text_in(here / "output");
  EXPECT_THAT(expected, HasSubstr("wrong 0"));
  cut_back_files(captured->image);
  const auto again = resume_from_memory(*captured);
  ASSERT_TRUE(again) << again.error().text();
  program.lives_again();
  ::kill(program.process(), SIGCONT);  // it is unknown whether it comes back stopped
  EXPECT_EQ(program.end(), 0);
  EXPECT_EQ(text_in(here / "output"), expected);
}

}  // namespace
}  // namespace perdure::process
