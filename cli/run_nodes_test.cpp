// The real program `perdure run --nodes` runs with a launcher that is a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/json.hpp"
#include "cli/launched_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Acts as an Open MPI launcher. A program prints its arguments and fails until the file `fine` is there. The probe of a
// host fails when there is a file bad-HOST, and hangs when there is a file hung-HOST.
// clang-format off: it takes the script for C++
constexpr const char* kLauncher = R"sh(#!/bin/sh
d=$(dirname "$0")
if [ "$1" = --host ]; then
  [ "$*" = "--host $2 -n 1 true" ] || exit 9
  [ -e "$d/hung-$2" ] && exec sleep 60
  [ ! -e "$d/bad-$2" ]; exit $?
fi
if [ "$1" = --hostfile ]; then
  echo "hosts: $(tr '\n' ',' <"$2")"; echo "file: $2"; shift 2
  while [ "$1" = -x ]; do printf 'x: %s ' "$2"; shift 2; done; echo
fi
echo "program: $*"
[ -e "$d/fine" ] && exit 0
touch "$d/fine"; exit 5
)sh";
// clang-format on

class RunNodes : public testing::Test {
 protected:
  RunNodes() {
    write("mpirun", kLauncher);
    ::chmod((directory_ / "mpirun").c_str(), 0700);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(directory_ / name) << text; }
  std::string launcher() const { return directory_ / "mpirun"; }
  test_support::TemporaryDirectory directory_;
};

std::vector<std::string> simulated(std::vector<std::string> more, const std::string& script) {
  std::vector<std::string> all = {"--set", "node.ranks_per_node=2", "--nodes", "3"};
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), {"--", "sh", "-c", "echo $PERDURE_NODE_NUMBERS / $PERDURE_NODE_RANKS_PER_NODE; " + script});
  return all;
}

TEST_F(RunNodes, SimulatedThatAreMarkedAsFailedAreReplaced) {
  const std::string mark = directory_ / "failed";
  const std::string script = "[ -e " + mark + " ] && exit 0; mkdir " + mark + "; touch " + mark + "/1; exit 1";
  Launched run(simulated({"--spares", "1", "--failed-nodes", mark, "--json", directory_ / "summary"}, script));
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(run.out(), "0,1,2 / 2\n0,3,2 / 2\n");
  EXPECT_THAT(run.err(), HasSubstr("perdure: nodes: 0, 1, 2; spare: 3\n"));
  EXPECT_THAT(run.err(), HasSubstr("perdure: node 1 failed: excluded, spare 3 takes its position 1\n"));
  EXPECT_THAT(run.err(), HasSubstr("perdure:   excluded nodes: 1\n"));
  const auto json = base::Json::parse(text_of(directory_ / "summary"), nullptr, false);
  EXPECT_EQ(json["nodes"], (base::Json{"0", "3", "2"}));
  EXPECT_EQ(json["excluded_nodes"], base::Json::array({"1"}));
}

TEST_F(RunNodes, SimulatedShrinkOnlyWhenTheyMay) {
  write("1", "");
  const std::vector<std::string> marked = {"--failed-nodes", directory_.path()};
  Launched strict(simulated(marked, "exit 4"));
  EXPECT_EQ(strict.wait(), 4);
  EXPECT_EQ(strict.out(), "0,1,2 / 2\n");
  EXPECT_THAT(strict.err(), HasSubstr("perdure: nodes: 1 failed, and there are not enough spares"));
  EXPECT_THAT(strict.err(), HasSubstr("perdure: out of nodes: 1 launches"));
  Launched loose(simulated({"--failed-nodes", directory_.path(), "--shrink-nodes"}, "[ $PERDURE_NODE_NUMBERS = 0,2 ]"));
  EXPECT_EQ(loose.wait(), 0);
  EXPECT_EQ(loose.out(), "0,1,2 / 2\n0,2 / 3\n");
}

TEST_F(RunNodes, SimulatedAreExcludedFromTheBeginningAndProbedAsTheUserLikes) {
  const std::string probe = "echo probed >>" + (directory_ / "probed") + "; test 5 -ne";
  Launched run(simulated({"--spares", "4", "--exclude", "0,3", "--exclude", "1", "--probe", probe},
                         "[ $PERDURE_NODE_NUMBERS = 2,4,6 ]"));
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(run.out(), "2,4,5 / 2\n2,4,6 / 2\n");
  EXPECT_EQ(text_of(directory_ / "probed"), "probed\nprobed\nprobed\nprobed\n");
}

TEST_F(RunNodes, HostsReachAnOpenMpiLauncherAsAHostfile) {
  write("bad-b", "");
  write("list", "a slots=2\n# not now: x\nb slots=2\nc slots=4\n");
  Launched run(
      {"--nodes", "2", "--hostfile", directory_ / "list", "--set", "job=mine", "--", launcher(), "-n", "4", "p"});
  EXPECT_EQ(run.wait(), 0);
  const std::string out = run.out();
  EXPECT_THAT(out, HasSubstr("hosts: a slots=2,b slots=2,\n"));
  EXPECT_THAT(
      out, HasSubstr("x: PERDURE_JOB x: PERDURE_STORE_PATH x: PERDURE_LAUNCH x: PERDURE_MESSAGES \nprogram: -n 4 p\n"));
  EXPECT_THAT(out, HasSubstr("hosts: a slots=2,c slots=4,\n"));
  const auto at = out.find("file: ") + 6;
  EXPECT_FALSE(std::ifstream(out.substr(at, out.find('\n', at) - at)).good()) << "the temporary file is removed";
  EXPECT_THAT(run.err(), HasSubstr("node b failed: excluded, spare c takes its position 1"));
}

TEST_F(RunNodes, HostsThatDoNotAnswerInTimeHaveFailed) {
  write("hung-a", "");
  Launched run({"--nodes", "2", "--hosts", "a:2,b:2", "--shrink-nodes", "--probe-timeout", "5", "--", launcher(), "p"});
  EXPECT_EQ(run.wait(), 0);
  EXPECT_THAT(run.out(), HasSubstr("hosts: a slots=2,b slots=2,\n"));
  EXPECT_THAT(run.out(), HasSubstr("hosts: b slots=4,\n")) << "room for all ranks";
}

TEST_F(RunNodes, HostsStandWhereTheCommandWantsThem) {
  write("list", "a:2\nb:3\nc:4\n");
  Launched run({"--nodes", "2", "--exclude", "a", "--hostfile", directory_ / "list", "--probe", "true", "--", "sh",
                "-c", "echo $0; tr '\\n' ' ' <$1", "--list={hosts}", "{hostfile}"});
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(run.out(), "--list=b,c\nb:3 c:4 ");
}

TEST_F(RunNodes, ProbesEndWithTheRunWhenItIsStopped) {
  const std::string pid = directory_ / "pid";
  Launched run(simulated({"--probe", "echo $$ >" + pid + "-$1; exec sleep 60;"}, "exit 1"));
  for (const char* node : {"-0", "-1", "-2"})
    ASSERT_TRUE(eventually("the node is probed", [&] { return text_of(pid + node).find('\n') != std::string::npos; }))
        << node;
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 128 + SIGTERM);
  for (const char* node : {"-0", "-1", "-2"}) EXPECT_FALSE(os::process_alive(std::stoi(text_of(pid + node)))) << node;
}

TEST_F(RunNodes, AreNotMentionedToAProgramWithoutTheOption) {
  Launched run({"--set", "node.ranks_per_node=2", "--", "sh", "-c", "echo [$PERDURE_NODE_NUMBERS]; exit 1"});
  EXPECT_EQ(run.wait(), 1);
  EXPECT_EQ(run.out(), "[]\n[]\n[]\n[]\n");
  EXPECT_THAT(run.err(), Not(HasSubstr("nodes")));
}

std::string refused(std::vector<std::string> arguments, const std::string& program = "mpirun") {
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(), {"--", program});
  const Ran ran = run_verb(arguments);
  return ran.status == kUsage ? ran.err : "status " + std::to_string(ran.status) + ": " + ran.err;
}

TEST_F(RunNodes, AreRefusedWithAReasonWhenTheyMakeNoSense) {
  const std::string simulate = "node.ranks_per_node=2";
  const auto reason = [](const std::string& text) {
    return testing::AllOf(HasSubstr(text), Not(HasSubstr("status ")));
  };
  EXPECT_THAT(refused({"--nodes", "2"}), reason("--nodes: it is not said which nodes"));
  EXPECT_THAT(refused({"--nodes", "0", "--set", simulate}), reason("at least one node"));
  EXPECT_THAT(refused({"--nodes", "-1", "--set", simulate}), reason("not a whole number"));
  EXPECT_THAT(refused({"--nodes", "999", "--spares", "2", "--set", simulate}), reason("at most 1000 nodes"));
  EXPECT_THAT(refused({"--spares", "1", "--set", simulate}), reason("--nodes"));
  EXPECT_THAT(refused({"--shrink-nodes"}), reason("--nodes"));
  EXPECT_THAT(refused({"--nodes", "2", "--hosts", "a,b", "--spares", "1"}), reason("--spares"));
  EXPECT_THAT(refused({"--nodes", "2", "--hosts", "a,b", "--hostfile", "f"}), reason("--hosts"));
  EXPECT_THAT(refused({"--nodes", "2", "--hosts", "a,b", "--set", simulate}), reason("at once"));
  EXPECT_THAT(refused({"--nodes", "3", "--hosts", "a,b"}), reason("3 nodes are wanted, but there are 2"));
  EXPECT_THAT(refused({"--nodes", "1", "--hosts", "a,a"}), reason("twice"));
  EXPECT_THAT(refused({"--nodes", "1", "--hosts", "a"}, "./program"), reason("{hostfile}"));
  EXPECT_THAT(refused({"--nodes", "1", "--hosts", "a"}, "srun-{hosts}"), reason("--probe"));
  EXPECT_THAT(refused({"--nodes", "2", "--set", simulate, "--set", "node.numbers=1,2"}), reason("node.numbers"));
  EXPECT_THAT(refused({"--nodes", "2", "--set", simulate, "--set", "node.numbers=2,2"}), reason("twice"));
  EXPECT_THAT(refused({"--nodes", "2", "--set", simulate, "--probe-timeout", "soon"}), reason("not a time"));
  EXPECT_THAT(refused({"--nodes", "2", "--hostfile", directory_ / "missing"}), HasSubstr("missing"));
}

}  // namespace
}  // namespace perdure::cli
