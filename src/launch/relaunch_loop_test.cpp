#include "launch/relaunch_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <deque>

namespace perdure::launch {
namespace {

using Kind = plan::ProgramEnd::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

class Script : public Supervisor {
 public:
  explicit Script(std::deque<plan::ProgramEnd> ends) : ends_(std::move(ends)) {}
  plan::ProgramEnd run(const std::vector<std::string>&, const Environment&) override {
    ++launches;
    const auto end = ends_.front();
    ends_.pop_front();
    return end;
  }
  std::optional<int> sleep(double seconds) override {
    delays.push_back(seconds);
    return stop;
  }
  Probed probe(const std::vector<std::vector<std::string>>&, double) override { return {}; }
  int launches = 0;
  std::vector<double> delays;
  std::optional<int> stop;

 private:
  std::deque<plan::ProgramEnd> ends_;
};

struct Fixture {
  std::vector<Versions> looks;
  std::size_t next = 0;
  std::vector<std::string> lines;
  Loop loop{{"program"},
            {},
            {3, 1, 60, 600},
            [this] { return next < looks.size() ? looks[next++] : Versions{}; },
            [this](const std::string& line) { lines.push_back(line); }};
};

TEST(RelaunchLoop, LaunchesUntilTheProgramSucceedsAndAddsUpItsTimes) {
  Fixture fixture;
  Script script({{Kind::killed, SIGKILL, 10, false, false},
                 {Kind::exited, 1, 20, false, false},
                 {Kind::exited, 0, 30, false, false}});
  const auto summary = run_loop(fixture.loop, script);
  EXPECT_EQ(script.launches, 3);
  EXPECT_THAT(script.delays, ElementsAre(1, 2));
  EXPECT_EQ(summary.status, 0);
  EXPECT_DOUBLE_EQ(summary.computing_s, 60);
  EXPECT_DOUBLE_EQ(summary.waiting_s, 3);
  EXPECT_EQ(summary.failures.size(), 2u);
  EXPECT_THAT(fixture.lines[0], HasSubstr("killed by signal 9"));
}

TEST(RelaunchLoop, CountsEarlyFailuresOnlyWhileNoNewerCheckpointAppears) {
  Fixture fixture;
  fixture.looks = {{{"nbody", 1}}, {{"nbody", 1}}, {{"nbody", 2}}, {{"nbody", 2}}};
  Script script(
      {{Kind::exited, 1, 1, false, false}, {Kind::exited, 1, 1, false, false}, {Kind::exited, 0, 1, false, false}});
  const auto summary = run_loop(fixture.loop, script);
  EXPECT_EQ(summary.state.early_failures_in_row, 0u);
  EXPECT_EQ(summary.versions.at("nbody"), 2u);
}

TEST(RelaunchLoop, EndsWhenItIsStoppedWhileItWaits) {
  Fixture fixture;
  Script script({{Kind::exited, 1, 1, false, false}});
  script.stop = SIGTERM;
  const auto summary = run_loop(fixture.loop, script);
  EXPECT_EQ(summary.status, 128 + SIGTERM);
  EXPECT_EQ(summary.reason, plan::RelaunchReason::stopped);
}

TEST(RelaunchLoop, ANewNameIsProgressAndARetiredOneIsNot) {
  EXPECT_TRUE(progressed({}, {{"a", 0}}));
  EXPECT_TRUE(progressed({{"a", 1}}, {{"a", 1}, {"b", 0}}));
  EXPECT_FALSE(progressed({{"a", 1}, {"b", 0}}, {{"a", 1}}));
}

}  // namespace
}  // namespace perdure::launch
