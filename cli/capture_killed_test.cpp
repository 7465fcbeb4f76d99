// `perdure capture` is killed with -9: the captured program goes on and notices nothing, and no process holds it any
// more.
#include <gtest/gtest.h>

#include <random>

#include "cli/processes_testing.hpp"
#include "os/crash_point.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"

namespace perdure::cli {
namespace {

class KilledCapture : public testing::TestWithParam<std::string> {
 protected:
  Orphans orphans_;
  ProcessPlace place_;
};

std::vector<std::string> tool_points(std::string_view beginning) {
  std::vector<std::string> points;
  for (const auto& point : os::kToolCrashPoints)
    if (point.name.starts_with(beginning)) points.emplace_back(point.name);
  return points;
}

/// The guard has ended when this returns.
void expect_untouched(const Patient& patient, const std::string& before) {
  Orphans::wait_for_others({patient.process()});
  EXPECT_EQ(view_of(patient.process()), before);
  patient.works();
}

TEST_P(KilledCapture, LeavesTheProgramAsItWasAndTheNextOneSucceeds) {
  Patient patient(place_);
  const std::string before = view_of(patient.process());
  for (const char* how : {"--leave-running", "--stop"}) {
    SCOPED_TRACE(how);
    const bool stops = std::string_view(how) == "--stop";
    const bool ended = stops && GetParam() != "process_held" && GetParam() != "process_copied";
    if (ended) continue;  // it is to be ended by then
    const Ran killed = Perdure(place_, {"capture", patient.number(), how}, {"PERDURE_TEST_CRASH=" + GetParam()}).wait();
    EXPECT_EQ(killed.status, -SIGKILL) << killed.err;
    expect_untouched(patient, before);
  }
  const Ran again = Perdure(place_, {"capture", patient.number(), "--json"}).wait();
  EXPECT_EQ(again.status, kGood) << again.err;
  EXPECT_EQ(view_of(patient.process()), before);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  EXPECT_EQ(resumed(place_, {"patient@" + again.json()["version"].dump()}).status, Patient::kStatus);
}

INSTANTIATE_TEST_SUITE_P(Points, KilledCapture, testing::ValuesIn(tool_points("process_")),
                         [](const auto& one) { return one.param; });

TEST(KilledCaptures, AtAnyMomentLeaveTheProgramAsItWas) {
  const Orphans orphans;
  ProcessPlace place;
  Patient patient(place);
  const std::string before = view_of(patient.process());
  const std::uint64_t begun = os::monotonic_ns();
  ASSERT_EQ(Perdure(place, {"capture", patient.number()}).wait().status, kGood);
  const std::uint64_t whole = os::monotonic_ns() - begun;
  std::mt19937_64 rng(16);
  for (int round = 0; round < test_support::unless_sanitized(20, 5); ++round) {
    SCOPED_TRACE(round);
    Perdure perdure(place, {"capture", patient.number()});
    os::sleep_ns(rng() % whole);  // wait: killed at a drawn moment
    ::kill(perdure.process(), SIGKILL);
    (void)perdure.wait();
    expect_untouched(patient, before);
  }
  EXPECT_EQ(Perdure(place, {"capture", patient.number()}).wait().status, kGood);
  EXPECT_EQ(patient.end(), Patient::kStatus);
}

// Each of them checks itself.
TEST(KilledCaptures, OfAwkwardProgramsAreNotNoticed) {
  const Orphans orphans;
  std::mt19937_64 rng(4711);
  for (const char* name : {"handlers", "hands_on", "pending", "suspends", "waits"}) {
    SCOPED_TRACE(name);
    ProcessPlace place;
    process::Program program({PERDURE_AWKWARD, name}, place.file("output"));
    for (int round = 0; round < 3; ++round) {
      Perdure perdure(place, {"capture", std::to_string(program.process())});
      os::sleep_ns(rng() % 80'000'000);  // wait: killed at a drawn moment
      ::kill(perdure.process(), SIGKILL);
      (void)perdure.wait();
    }
    EXPECT_EQ(program.end(), 0);
    EXPECT_THAT(content_of(place.file("output")), testing::HasSubstr("wrong 0"));
    Orphans::wait_for_others({});
  }
}

}  // namespace
}  // namespace perdure::cli
