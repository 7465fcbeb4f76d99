// Clocks that count from boot continue after a resume, if this machine has run for a shorter time.
#include <gtest/gtest.h>

#include "cli/processes_testing.hpp"
#include "process/clocks.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

// Each sleep is until a time of CLOCK_MONOTONIC. If the clock had gone back, it would not end.
constexpr const char* kSleeper = R"(
import os, sys, time
place = sys.argv[1] + '/'
last = time.monotonic()
open(place + 'ready', 'w').close()
while not os.path.exists(place + 'end'):
    time.sleep(0.02)
    now = time.monotonic()
    if now < last:
        open(place + 'back', 'w').write(str(last - now))
    last = now
open(place + 'last', 'w').write(str(last))
)";
constexpr std::int64_t kDay_ns = 86'400'000'000'000;

/// Runs a program on a machine that has run for a day longer than this one.
class LongerMachine : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kPython)) GTEST_SKIP() << "there is no " << kPython;
    const auto ahead = process::ShiftedChildren::begin({kDay_ns, kDay_ns});
    if (!ahead) GTEST_SKIP() << ahead.error().text();
    program_.emplace(std::vector<std::string>{kPython, "-c", kSleeper, place_.files}, place_.file("output"));
    wait_for_file(place_.file("ready"));
  }
  void capture() {
    const auto here = process::clocks_of(::getpid());
    EXPECT_GE(process::clocks_of(program_->process()).monotonic_ns, here.monotonic_ns + kDay_ns);
    const Ran captured =
        Perdure(place_, {"capture", std::to_string(program_->process()), "--name", "sleeper", "--stop"}).wait();
    ASSERT_EQ(captured.status, kGood) << captured.err;
    EXPECT_EQ(program_->end(), -SIGKILL);
  }
  double last_time() const { return std::atof(content_of(place_.file("last")).c_str()); }
  /// A program whose clock went back would sleep on, so this kills it.
  void goes_on(const std::vector<std::string>& more = {}) {
    const auto known = Orphans::all();
    std::vector<std::string> arguments = {"sleeper", "--detach", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = resumed(place_, arguments);
    ASSERT_EQ(ran.status, kGood) << ran.err;
    if (!eventually("the program ends", [&] { return last_time() > 0; }))
      ::kill(ran.json()["process"].get<pid_t>(), SIGKILL);
    Orphans::wait_for_others(known);
    EXPECT_FALSE(std::filesystem::exists(place_.file("back"))) << content_of(place_.file("back"));
    EXPECT_GE(last_time() * 1e9, static_cast<double>(kDay_ns));
    EXPECT_THAT(ran.err, HasSubstr("its clocks go on"));
  }
  static constexpr const char* kPython = "/usr/bin/python3";
  Orphans orphans_;
  ProcessPlace place_;
  std::optional<process::Program> program_;
};

TEST_F(LongerMachine, HasItsClocksGoOnHere) {
  capture();
  touch(place_.file("end"));
  goes_on();
}

TEST_F(LongerMachine, HasItsClocksGoOnInANameSpaceOfProcesses) {
  capture();
  touch(place_.file("end"));
  goes_on({"--name-space"});
}

// A later capture records the program's clocks, and not this machine's.
TEST_F(LongerMachine, IsCapturedAgainWithTheClocksThatItHas) {
  capture();
  for (int times = 0; times < 2; ++times) {
    Perdure perdure(place_, {"resume", "sleeper"});
    ASSERT_TRUE(perdure.says("goes on as process")) << perdure.err();
    const std::string text = perdure.err();
    const pid_t process = std::atoi(text.c_str() + text.find("as process ") + 11);
    const Ran captured = Perdure(place_, {"capture", std::to_string(process), "--name", "sleeper", "--stop"}).wait();
    ASSERT_EQ(captured.status, kGood) << captured.err;
    (void)perdure.wait();
  }
  touch(place_.file("end"));
  goes_on();
}

}  // namespace
}  // namespace perdure::cli
