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

/// Somebody traces it, such as a guard that holds it.
bool is_traced(pid_t process) {
  return content_of("/proc/" + std::to_string(process) + "/status").find("TracerPid:\t0\n") == std::string::npos;
}

TEST_P(KilledCapture, LeavesTheProgramAsItWasAndTheNextOneSucceeds) {
  Patient patient(place_);
  const std::string before = view_of(patient.process());
  for (const char* how : {"--leave-running", "--stop"}) {
    SCOPED_TRACE(how);
    const bool stops = std::string_view(how) == "--stop";
    const bool ended = stops && (GetParam() == "process_to_release" || GetParam() == "process_released");
    if (stops && GetParam() == "process_proved") continue;  // it is proved before it is read
    if (ended) continue;                                    // it is to be ended by then
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

// A program that goes on does so before the proof; one that the capture ends stands still until then.
TEST(StoppedCaptures, HoldWhatIsToBeEndedAndNothingElse) {
  const Orphans orphans;
  ProcessPlace place;
  Patient patient(place);
  for (const char* how : {"--leave-running", "--stop"}) {
    SCOPED_TRACE(how);
    const bool stops = std::string_view(how) == "--stop";
    const std::string name = stops ? "last" : "image";
    Perdure perdure(place, {"capture", patient.number(), "--name", name, how},
                    {"PERDURE_TEST_CRASH=process_read", "PERDURE_TEST_CRASH_STOPS=1"});
    ASSERT_TRUE(eventually("all of it was read", [&] { return stands_still(perdure.process()); }));
    EXPECT_EQ(is_traced(patient.process()), stops);
    if (!stops) patient.works();
    EXPECT_THAT(run_verb({"ls", place.store}).out, testing::Not(testing::HasSubstr(name))) << "it is not complete yet";
    ::kill(perdure.process(), SIGCONT);
    const Ran ran = perdure.wait();
    EXPECT_EQ(ran.status, kGood) << ran.err;
  }
  EXPECT_EQ(patient.was_killed(), -SIGKILL);
  touch(place.file("end"));
  for (const char* name : {"image", "last"}) EXPECT_EQ(resumed(place, {name}).status, Patient::kStatus) << name;
}

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
