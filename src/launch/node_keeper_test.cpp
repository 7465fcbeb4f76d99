// Tests decisions about nodes over several launches, with probes that the test answers.
#include "launch/node_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "launch/relaunch_loop.hpp"

namespace perdure::launch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Every launch fails but the last; the nodes in `failed` fail their probes.
class ScriptedNodes : public Supervisor {
 public:
  plan::ProgramEnd run(const std::vector<std::string>&, const Environment& environment) override {
    for (const auto& [name, value] : environment)
      if (name == "PERDURE_NODE_NUMBERS") launched.push_back(value);
    plan::ProgramEnd end;
    end.value = launched.size() == launches ? 0 : 1;
    return end;
  }
  std::optional<int> sleep(double) override { return std::nullopt; }
  Probed probe(const std::vector<std::vector<std::string>>& commands, double limit_s) override {
    Probed probed;
    probed.stop = stop;
    for (const auto& command : commands) {
      probed.good.push_back(failed.count(command.back()) == 0);
      asked.push_back(command.back());
      last = command;
    }
    limit = limit_s;
    most = std::max(most, commands.size());
    return probed;
  }
  std::size_t launches = 2, most = 0;
  std::set<std::string> failed;
  std::optional<int> stop;
  std::vector<std::string> launched, asked, last;
  double limit = 0;
};

struct Nodes {
  explicit Nodes(SimulatedNodes simulated, NodePolicy policy = {}) {
    policy.positions = simulated.positions;
    keeper = NodeKeeper::make(make_simulated_nodes(simulated), policy, say());
  }
  NodeKeeper::Announce say() {
    return [this](const std::string& line) { lines.push_back(line); };
  }
  LoopSummary run(ScriptedNodes& script) {
    return run_loop({{"program"}, {}, {3, 1, 60, 600}, [] { return Versions{}; }, say(), keeper->get()}, script);
  }
  std::vector<std::string> lines;
  base::Result<std::unique_ptr<NodeKeeper>> keeper;
};

// Marker files are not used here: the script answers for them.
SimulatedNodes four_and(std::uint64_t spares) { return {4, spares, 2, "/d"}; }

TEST(NodeKeeper, GivesAFailedNodesPositionToASpare) {
  Nodes nodes(four_and(1));
  ScriptedNodes script;
  script.failed = {"/d/2"};
  EXPECT_EQ(nodes.run(script).status, 0);
  EXPECT_THAT(script.launched, ElementsAre("0,1,2,3", "0,1,4,3"));
  EXPECT_THAT(script.asked, ElementsAre("/d/0", "/d/1", "/d/2", "/d/3", "/d/4")) << "the spare when it steps in";
  EXPECT_THAT(script.last, ElementsAre("test", "!", "-e", "/d/4"));
  EXPECT_EQ(script.limit, 10);
  EXPECT_THAT(nodes.lines, Contains("nodes: 0, 1, 2, 3; spare: 4"));
  EXPECT_THAT(nodes.lines, Contains("node 2 failed: excluded, spare 4 takes its position 2"));
  EXPECT_THAT(nodes.lines, Contains("nodes: 0, 1, 4, 3; excluded: 2"));
}

TEST(NodeKeeper, LaunchesOnTheSameNodesWhenNoneFailed) {
  Nodes nodes(four_and(1));
  ScriptedNodes script;
  nodes.run(script);
  EXPECT_THAT(script.launched, ElementsAre("0,1,2,3", "0,1,2,3"));
  EXPECT_THAT(nodes.lines.back(), "nodes: none of 0, 1, 2, 3 failed");
}

TEST(NodeKeeper, PassesOverASpareThatFailedToo) {
  Nodes nodes(four_and(3));
  ScriptedNodes script;
  script.failed = {"/d/0", "/d/4"};
  nodes.run(script);
  EXPECT_THAT(script.launched, ElementsAre("0,1,2,3", "5,1,2,3"));
  EXPECT_THAT((*nodes.keeper)->now().excluded, ElementsAre("0", "4"));
  EXPECT_THAT((*nodes.keeper)->now().spares, ElementsAre("6"));
}

TEST(NodeKeeper, EndsWithTheFailedNodesAndTheProgramsStatusWhenNoSpareIsLeft) {
  Nodes nodes(four_and(1));
  ScriptedNodes script;
  script.failed = {"/d/1", "/d/3"};
  const auto summary = nodes.run(script);
  EXPECT_EQ(summary.status, 1);
  EXPECT_EQ(summary.reason, plan::RelaunchReason::out_of_nodes);
  EXPECT_THAT(script.launched, ElementsAre("0,1,2,3"));
  EXPECT_THAT(nodes.lines, Contains("node 3 failed: excluded, no spare is left"));
  EXPECT_THAT(nodes.lines.back(), HasSubstr("1, 3 failed, and there are not enough spares"));
  EXPECT_THAT(nodes.lines.back(), HasSubstr("--shrink-nodes"));
}

TEST(NodeKeeper, ShrinksWhenItMayAndPutsMoreRanksOnEachNode) {
  NodePolicy policy;
  policy.shrink = true;
  Nodes nodes(four_and(0), policy);
  const Launch first = (*nodes.keeper)->launch_on_nodes({{"p"}, {{"PERDURE_NODE_RANKS_PER_NODE", "2"}}}).value();
  EXPECT_THAT(first.environment,
              ElementsAre(std::pair("PERDURE_NODE_RANKS_PER_NODE", "2"), std::pair("PERDURE_NODE_NUMBERS", "0,1,2,3")));
  ScriptedNodes script;
  script.failed = {"/d/1"};
  EXPECT_EQ(nodes.run(script).status, 0);
  EXPECT_THAT(script.launched, ElementsAre("0,1,2,3", "0,2,3"));
  const Launch second = (*nodes.keeper)->launch_on_nodes({{"p"}, {{"PERDURE_NODE_RANKS_PER_NODE", "2"}}}).value();
  EXPECT_THAT(second.environment, Contains(std::pair("PERDURE_NODE_RANKS_PER_NODE", "3")));
  EXPECT_THAT(nodes.lines, Contains("node 1 failed: excluded, no spare is left, its ranks go to the other nodes"));
  script.failed = {"/d/0", "/d/2", "/d/3"};
  script.launches = 4;
  EXPECT_EQ(nodes.run(script).reason, plan::RelaunchReason::out_of_nodes);
}

TEST(NodeKeeper, EndsWhenItIsStoppedWhileItProbes) {
  Nodes nodes(four_and(1));
  ScriptedNodes script;
  script.stop = SIGINT;
  const auto summary = nodes.run(script);
  EXPECT_EQ(summary.status, 128 + SIGINT);
  EXPECT_EQ(summary.reason, plan::RelaunchReason::stopped);
  EXPECT_THAT((*nodes.keeper)->now().excluded, IsEmpty()) << "what was stopped says nothing about nodes";
}

TEST(NodeKeeper, NeedsEnoughNodesThatAreNotExcluded) {
  NodePolicy policy;
  policy.exclude = {"1", "0", "77"};
  Nodes nodes(four_and(1), policy);
  ASSERT_FALSE(nodes.keeper);
  EXPECT_THAT(nodes.keeper.error().text(), HasSubstr("4 nodes are wanted, but there are 3 without the excluded 0, 1"));
  EXPECT_THAT(nodes.lines, ElementsAre("--exclude: there is no node 77"));
  policy.shrink = true;
  EXPECT_TRUE(Nodes(four_and(1), policy).keeper);
}

TEST(NodeKeeper, ProbesWithTheGivenCommandAFewAtATime) {
  NodePolicy policy;
  policy.probe = "ask --politely";
  policy.probe_timeout_s = 3;
  Nodes nodes(SimulatedNodes{100, 0, 1, ""}, policy);
  ScriptedNodes script;
  nodes.run(script);
  EXPECT_EQ(script.asked.size(), 100U);
  EXPECT_EQ(script.most, 32U);
  EXPECT_THAT(script.last, ElementsAre("/bin/sh", "-c", "ask --politely \"$@\"", "perdure-probe", "99"));
  EXPECT_EQ(script.limit, 3);
}

}  // namespace
}  // namespace perdure::launch
