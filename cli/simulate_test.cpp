// perdure simulate runs scenarios and shows them side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verb_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

const std::string kNode = std::string(PERDURE_DEVICES) + "/veloc-node.toml";

TEST(Simulate, PutsAllPoliciesSideBySide) {
  const Ran ran = run_verb({"simulate", kNode, "--writers", "8,16", "--total-bytes", "4GiB", "--json"});
  ASSERT_EQ(ran.status, kGood) << ran.err;
  const auto rows = ran.json()["rows"];
  ASSERT_EQ(rows.size(), 10u);
  for (const auto& row : rows) {
    EXPECT_EQ(row["writers"].get<unsigned>() * row["chunks"].get<unsigned>(), 64u);
    EXPECT_GT(row["local_phase_s"], 0);
    EXPECT_GE(row["flush_completion_s"], row["local_phase_s"]);
    EXPECT_EQ(row["tier_chunks"]["cache"].get<int>() + row["tier_chunks"]["ssd"].get<int>(), 64);
    EXPECT_EQ(row["ssd_chunks"], row["tier_chunks"]["ssd"]);
  }
  EXPECT_EQ(rows[0]["policy"], "cache-only");
  EXPECT_EQ(rows[0]["ssd_chunks"], 0);
  EXPECT_EQ(rows[1]["ssd_chunks"], 64);
}

TEST(Simulate, ShowsMediansAsATableAndEveryRunAsCsv) {
  const std::vector<std::string> common{"simulate", kNode,  "--policy", "hybrid-opt,adaptive", "--repetitions", "3",
                                        "--cache",  "1GiB", "--cold"};
  const Ran table = run_verb(common);
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 3) << table.out;
  EXPECT_THAT(table.out, HasSubstr("1.0 GiB"));
  auto arguments = common;
  arguments.push_back("--csv");
  const Ran csv = run_verb(arguments);
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 7) << csv.out;
  EXPECT_THAT(csv.out, HasSubstr("\nadaptive,1,16,4,67108864,1073741824,2,3,"));
}

TEST(Simulate, TheSameSeedGivesTheSameAnswer) {
  const std::vector<std::string> common{"simulate", kNode, "--nodes", "4", "--csv", "--seed"};
  auto with = [&](const std::string& seed) {
    auto arguments = common;
    arguments.push_back(seed);
    return run_verb(arguments).out;
  };
  EXPECT_EQ(with("5"), with("5"));
  EXPECT_NE(with("5"), with("6"));
}

TEST(Simulate, SaysOnATerminalHowFarItIs) {
  const std::vector<std::string> all{"simulate", kNode, "--policy", "adaptive"};
  const Ran silent = run_verb(all), live = run_verb(all, true);
  EXPECT_EQ(live.status, kGood);
  EXPECT_EQ(live.out, silent.out);
  EXPECT_TRUE(live.err.ends_with("\r\x1b[K")) << "the table takes the bar's place";
}

TEST(Simulate, AnswersWithTheBestPlanInHindsight) {
  const auto rows =
      run_verb({"simulate", kNode, "--policy", "adaptive", "--writers", "4", "--oracle", "--json"}).json()["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["policy"], "oracle");
  EXPECT_NE(rows[1]["plan"], "");
}

TEST(Simulate, RefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> bad{
      {"--policy", "best"},      {"--writers", "0"},        {"--nodes", "0"},       {"--chunk-bytes", "0"},
      {"--chunk-bytes", "many"}, {"--total-bytes", "1MiB"}, {"--repetitions", "0"}, {"--flush-order", "random"},
      {"--cache", "x"},          {"--flush-threads", "0"},  {"--seed", "-1"},       {"--interval", "0"}};
  for (const auto& options : bad) {
    std::vector<std::string> arguments{"simulate", kNode};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run_verb(arguments).status, kUsage) << options[0] << " " << options[1];
  }
  EXPECT_EQ(run_verb({"simulate", "/nonexistent.toml"}).status, kCannot);
  const Ran unknown = run_verb({"simulate", "no-such-node"});
  EXPECT_EQ(unknown.status, kCannot);
  EXPECT_THAT(unknown.err, HasSubstr("give the path of a file"));
  EXPECT_EQ(run_verb({"simulate", kNode, "--chunk-bytes", "1TiB"}).status, kCannot);
}

}  // namespace
}  // namespace perdure::cli
