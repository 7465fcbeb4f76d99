// perdure track shows the report of a tracked program.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "cli/verb_testing.hpp"
#include "track/report.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

class TrackVerb : public testing::Test {
 protected:
  std::string written(const std::string& text) const {
    std::ofstream(directory_ / "report.json") << text;
    return directory_ / "report.json";
  }
  static std::string sample() {
    track::Report report;
    report.name = "clover";
    report.state_bytes = 10'000'000;
    report.loops = {{"reset", 0, 5, {1'000'000, 1}, {2'500'000, 2}, true, true}, {"ask", 1, 0, {}, {}, false, false}};
    report.sets = {{"density", 5'000'000, 4'000'000, 2'500'000, "read before it is written"},
                   {"work", 5'000'000, 0, 0, "scratch"}};
    report.step = {{"reset", 2'500'000}, {"ask", std::nullopt}, {"reset", 2'500'000}};
    return track::to_json(report);
  }
  test_support::TemporaryDirectory directory_;
};

TEST_F(TrackVerb, ShowsWhatACheckpointBeforeEachLoopHasAndWhy) {
  const Ran ran = run_verb({"track", written(sample())});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("reset +0 +5 +1.000 MB +2.500 MB +25.00 % +2 +chosen"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("ask .* no place"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("work +5.000 MB +- +scratch"));
  EXPECT_THAT(ran.out, HasSubstr("2.500 MB of 10.000 MB, 25.00 %"));
  EXPECT_EQ(run_verb({"track", "--json", written(sample())}).json()["name"], "clover");
}

TEST_F(TrackVerb, PlotsOneTimeStep) {
  const std::string plot = directory_ / "step.svg";
  EXPECT_EQ(run_verb({"track", written(sample()), "--plot", plot}).status, kGood);
  std::ifstream file(plot);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(svg, HasSubstr("clover: a checkpoint before each loop"));
  const Ran ran = run_verb({"track", written(sample()), "--plot", directory_ / "missing/step.svg"});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("cannot be written"));
}

TEST_F(TrackVerb, RefusesWhatIsNoReport) {
  const Ran missing = run_verb({"track", directory_ / "missing.json"});
  EXPECT_EQ(missing.status, kCannot);
  EXPECT_THAT(missing.err, HasSubstr("cannot be read"));
  const Ran other = run_verb({"track", written("{\"a\": 1}")});
  EXPECT_EQ(other.status, kUsage);
  EXPECT_THAT(other.err, HasSubstr("no report of places"));
}

}  // namespace
}  // namespace perdure::cli
