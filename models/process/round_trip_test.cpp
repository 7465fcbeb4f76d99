// Captures programs in the middle of their work, kills them and resumes them: they must end as if undisturbed.
#include <gmock/gmock.h>
#include <linux/sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "process/captured_testing.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_lists.hpp"
#include "process/proc_text.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;

constexpr std::array kPrograms = {"clocks",   "crowd",   "grows",   "handlers",  "hands_on",
                                  "mappings", "numbers", "pending", "registers", "suspends",
                                  "throws",   "timers",  "views",   "waits",     "zeros"};

std::vector<std::string> command(const std::string& name) { return {PERDURE_AWKWARD, name}; }

std::string written(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

class RoundTrips : public testing::TestWithParam<const char*> {
 protected:
  /// Returns its output without any interruption.
  std::string undisturbed() {
    Program program(command(GetParam()), here_ / "undisturbed");
    EXPECT_EQ(program.end(), 0);
    return written(here_ / "undisturbed");
  }
  test_support::TemporaryDirectory here_;
};

TEST_P(RoundTrips, EndAsIfNothingHadBeen) {
  const std::string expected = undisturbed();
  ASSERT_THAT(expected, HasSubstr("wrong 0"));
  const auto seeds = test_support::many_seeds(1, 3, 1, 20);
  std::uint64_t resumed = 0, too_late = 0;
  for (std::uint64_t seed = seeds.begin; goes_on(seeds, seed, resumed > 0); ++seed) {
    SCOPED_TRACE("PERDURE_TEST_SEEDS=" + std::to_string(seed));
    std::mt19937_64 rng(seed);
    Program program(command(GetParam()), here_ / "output");
    wait_for_a_moment(rng, too_late);
    std::string so_far;
    const auto captured =
        capture_to_memory(program.process(), [&](const ProcessImage&) { so_far = written(here_ / "output"); });
    if (!captured) {  // it ended before
      ASSERT_EQ(captured.error().code, PERDURE_NOT_FOUND) << captured.error().text();
      ++too_late;
      continue;
    }
    ::kill(program.process(), SIGKILL);
    if (program.end() != -SIGKILL) {
      ++too_late;
      continue;
    }
    // The resumed program repeats what it wrote between the capture and its end.
    std::ofstream(here_ / "output") << so_far;
    const auto again = resume_from_memory(*captured, 4096 << rng() % 10);
    ASSERT_TRUE(again) << again.error().text();
    program.lives_again();
    EXPECT_EQ(program.end(), 0);
    EXPECT_EQ(written(here_ / "output"), expected);
    ++resumed;
  }
  EXPECT_TRUE(!seeds.usual || resumed > 0) << "none was captured before its end";
}

TEST_P(RoundTrips, ComeBackASecondTimeFromWhatCameBack) {
  const std::string expected = undisturbed();
  const auto seeds = test_support::many_seeds(1, 1, 1, 40);
  bool twice = false;
  std::uint64_t too_late = 0;
  for (std::uint64_t seed = seeds.begin; goes_on(seeds, seed, twice); ++seed) {
    SCOPED_TRACE("PERDURE_TEST_SEEDS=" + std::to_string(seed));
    std::mt19937_64 rng(seed);
    Program program(command(GetParam()), here_ / "output");
    bool over = false;
    for (int times = 0; times < 2 && !over; ++times) {
      if (times == 0) wait_for_a_moment(rng, too_late);
      std::string so_far;
      const auto captured =
          capture_to_memory(program.process(), [&](const ProcessImage&) { so_far = written(here_ / "output"); });
      if (captured)
        ::kill(program.process(), SIGKILL);
      else
        ASSERT_EQ(captured.error().code, PERDURE_NOT_FOUND) << captured.error().text();
      const int status = program.end();
      over = status != -SIGKILL;
      if (over) {
        EXPECT_EQ(status, 0);
        ++too_late;
        break;
      }
      std::ofstream(here_ / "output") << so_far;
      const auto again = resume_from_memory(*captured, 4096 << rng() % 10);
      ASSERT_TRUE(again) << again.error().text();
      program.lives_again();
      twice = twice || times == 1;
    }
    if (!over) {
      EXPECT_EQ(program.end(), 0);
    }
    EXPECT_EQ(written(here_ / "output"), expected);
  }
  EXPECT_TRUE(!seeds.usual || twice) << "none was captured twice before its end";
}

TEST_P(RoundTrips, AndThoseThatGoOnNoticeNothing) {
  const std::string expected = undisturbed();
  Program program(command(GetParam()), here_ / "output");
  for (int times = 0; times < 5; ++times) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // wait: it goes on between two captures
    const auto captured = capture_to_memory(program.process());
    if (!captured) break;
  }
  EXPECT_EQ(program.end(), 0);
  EXPECT_EQ(written(here_ / "output"), expected);
}

INSTANTIATE_TEST_SUITE_P(Awkward, RoundTrips, testing::ValuesIn(kPrograms),
                         [](const auto& one) { return std::string(one.param); });

TEST(RoundTripsOfAProgram, AreTheSameProgramsThatThereAre) {
  test_support::TemporaryDirectory here;
  Program program({PERDURE_AWKWARD}, here / "list");
  EXPECT_EQ(program.end(), 0);
  std::string listed;
  for (const char* name : kPrograms) listed += std::string(name) + "\n";
  EXPECT_EQ(written(here / "list"), listed);
}

/// A program in the middle of its work.
struct InTheMiddle {
  explicit InTheMiddle(const char* name) : program(command(name), here / "output") {
    wait_for_text(here / "output", "begun");
  }
  test_support::TemporaryDirectory here;
  Program program;
};

TEST(RoundTripsOfAProgram, WaitForItsNumber) {
  InTheMiddle middle("suspends");
  const auto captured = capture_to_memory(middle.program.process());
  ASSERT_TRUE(captured) << captured.error().text();
  ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
  const auto refused = write_to(target, *captured, 1 << 20);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_EXISTS);
  EXPECT_THAT(refused.error().text(), HasSubstr("its number is taken, by 'awkward'"));
  EXPECT_EQ(middle.program.end(), 0) << "the one that lives has noticed it";
}

/// A process that has this number until it goes out of scope.
class Squatter {
 public:
  explicit Squatter(pid_t number) {
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
    arguments.set_tid_size = 1;
    // The kernel may free the numbers of threads a moment after it reported the end of the process.
    EXPECT_TRUE(test_support::eventually("the number is free", [&] {
      process_ = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
      return process_ >= 0 || errno != EEXIST;
    }));
    if (process_ == 0)
      for (;;) ::pause();
  }
  ~Squatter() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Squatter(const Squatter&) = delete;
  Squatter& operator=(const Squatter&) = delete;
  bool lives() const { return process_ > 0; }

 private:
  pid_t process_ = 0;
};

TEST(RoundTripsOfAProgram, WaitForTheNumbersOfItsThreads) {
  InTheMiddle middle("throws");
  const pid_t number = middle.program.process();
  ASSERT_TRUE(test_support::eventually("it has made threads", [&] { return threads_of(number).size() > 1; }));
  pid_t taken = 0;
  const auto captured = capture_to_memory(number);
  ASSERT_TRUE(captured) << captured.error().text();
  for (const auto& thread : captured->image.threads)
    if (thread.number != number) taken = thread.number;
  ASSERT_NE(taken, 0);
  ::kill(number, SIGKILL);
  EXPECT_EQ(middle.program.end(), -SIGKILL);
  const Squatter squatter(taken);
  if (!squatter.lives())
    GTEST_SKIP() << std::strerror(errno) << ": numbers cannot be chosen here, or somebody was quicker";
  {
    ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
    ASSERT_TRUE(write_to(target, *captured, 1 << 20));
    const auto refused = target.finish();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_EXISTS) << refused.error().text();
    EXPECT_THAT(refused.error().text(), HasSubstr("make thread " + std::to_string(taken)));
  }
  EXPECT_NE(::kill(number, 0), 0) << "its other threads are gone, too";
}

TEST(RoundTripsOfAProgram, LeaveNothingWhenTheyEndBefore) {
  InTheMiddle middle("views");
  const pid_t number = middle.program.process();
  const auto captured = capture_to_memory(number);
  ASSERT_TRUE(captured) << captured.error().text();
  ::kill(number, SIGKILL);
  EXPECT_EQ(middle.program.end(), -SIGKILL);
  const auto lives = [&] { return ::kill(number, 0) == 0; };
  {
    ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
    ASSERT_TRUE(write_to(target, *captured, 1 << 20));
    EXPECT_TRUE(lives());
    ASSERT_TRUE(target.accept(captured->entries)) << "an attempt anew";
    EXPECT_FALSE(lives());
    ASSERT_TRUE(write_to(target, *captured, 1 << 20));
    ASSERT_TRUE(target.finish());
    EXPECT_TRUE(lives());
  }
  EXPECT_FALSE(lives());
  ImageTarget refuses([](ProcessImage&, Operations&) { return base::fail(PERDURE_PERMISSION, "image", "no"); });
  EXPECT_EQ(write_to(refuses, *captured, 1 << 20).error().code, PERDURE_PERMISSION);
  EXPECT_FALSE(lives());
}

TEST(RoundTripsOfAProgram, OfWhichNotAllCameDoNotGoOn) {
  InTheMiddle middle("views");
  const auto captured = capture_to_memory(middle.program.process());
  ASSERT_TRUE(captured) << captured.error().text();
  ::kill(middle.program.process(), SIGKILL);
  EXPECT_EQ(middle.program.end(), -SIGKILL);
  {
    CapturedImage cut = *captured;
    cut.bytes.resize(cut.bytes.size() - 4096);
    ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
    ASSERT_TRUE(write_to(target, cut, 4096));
    const auto refused = target.finish();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("not all of its bytes came"));
  }
  EXPECT_NE(::kill(middle.program.last(), 0), 0) << "nothing of it is left";
}

bool amid_kernels_code(const ProcessImage& image) {
  const Registers registers = registers_of(image.threads.front());
  return next_instruction(registers) >= image.system.vdso_begin && next_instruction(registers) < image.system.vdso_end;
}

// The image names another vdso, but has this kernel's code. Each function that the program calls must lead to ours.
TEST(RoundTripsOfAProgram, UnderAnotherKernelReadItsClocks) {
  test_support::TemporaryDirectory here;
  Program program(command("clocks"), here / "output");
  base::Result<CapturedImage> captured = base::fail(PERDURE_INTERNAL, "", "");
  do {
    captured = capture_to_memory(program.process(), [](ProcessImage& image) { image.system.vdso = {1, 2}; });
    ASSERT_TRUE(captured) << captured.error().text();
  } while (amid_kernels_code(captured->image));
  ::kill(program.process(), SIGKILL);
  ASSERT_EQ(program.end(), -SIGKILL);
  ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
  base::Status made = write_to(target, *captured, 1 << 20);
  EXPECT_TRUE(test_support::eventually("no process of another test has its number", [&] {
    const bool taken = !made && made.error().code == PERDURE_EXISTS;
    if (taken) made = write_to(target, *captured, 1 << 20);
    return !taken;
  }));
  ASSERT_TRUE(made) << made.error().text();
  const auto finished = target.finish();
  ASSERT_TRUE(finished) << finished.error().text();
  EXPECT_THAT(target.notes(), testing::Contains(HasSubstr("its code leads to this kernel's")));
  const auto maps = parse_maps(proc_text("/proc/" + std::to_string(program.last()) + "/maps"), "it");
  ASSERT_TRUE(maps);
  const auto& system = captured->image.system;
  for (const MemoryMap& map : *maps)
    if (map.begin >= system.vdso_begin && map.begin < system.vdso_end) {
      EXPECT_EQ(map.begin, system.vdso_code_begin());
      EXPECT_EQ(map.name, "") << "the kernel's lie elsewhere";
      EXPECT_TRUE(map.executable && !map.writable);
    }
  ASSERT_TRUE(target.release());
  program.lives_again();
  EXPECT_EQ(program.end(), 0);
  EXPECT_THAT(written(here / "output"), HasSubstr("wrong 0"));
}

TEST(RoundTripsOfAProgram, LeaveOutWhatTheKernelMayDrop) {
  test_support::TemporaryDirectory here;
  Program program(command("clocks"), here / "output");
  wait_for_text(here / "output", "begun");
  const auto captured = capture_to_memory(program.process());
  ASSERT_TRUE(captured) << captured.error().text();
  int droppable = 0;
  for (const MapImage& map : captured->image.maps) {
    if (!map.has("dp")) continue;
    ++droppable;
    for (const NodePages& node : captured->image.pages)
      for (const PageRun& run : node.runs) EXPECT_TRUE(run.end() <= map.begin || run.begin >= map.end);
  }
  if (droppable == 0) GTEST_SKIP() << "this kernel has no memory that it may drop (6.11)";
}

TEST(RoundTripsOfAProgram, TellWhichFileIsMissing) {
  test_support::TemporaryDirectory here;
  const std::string copy = here / "copy";
  {
    std::ifstream from(PERDURE_AWKWARD, std::ios::binary);
    std::ofstream(copy, std::ios::binary) << from.rdbuf();
    ASSERT_EQ(::chmod(copy.c_str(), 0700), 0);
  }
  Program program({copy, "suspends"}, here / "output");
  wait_for_text(here / "output", "begun");
  const auto captured = capture_to_memory(program.process());
  ASSERT_TRUE(captured) << captured.error().text();
  ::kill(program.process(), SIGKILL);
  EXPECT_EQ(program.end(), -SIGKILL);
  ASSERT_EQ(::unlink(copy.c_str()), 0);
  const auto refused = resume_from_memory(*captured);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NOT_FOUND);
  EXPECT_THAT(refused.error().text(), HasSubstr(copy));
}

}  // namespace
}  // namespace perdure::process
