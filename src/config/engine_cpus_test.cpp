// Tests the choice of the engine's processors, with facts as machines and launchers give them.
#include "config/engine_cpus.hpp"

#include <gtest/gtest.h>

#include "os/affinity.hpp"

namespace perdure::config {
namespace {

using os::Ancestor;
using os::CpuFacts;
using os::CpuSet;

CpuSet set(const char* text) { return CpuSet::parse(text).value(); }

Ancestor process(const char* name, const char* cpus, bool session_leader = false) {
  return {name, true, session_leader, os::launches_ranks(name), set(cpus), {}};
}

Ancestor of_root(Ancestor ancestor, const char* children = "") {
  ancestor.same_user = false;
  ancestor.children = set(children);
  return ancestor;
}

// Describes a rank that `ancestors` bound to processor 3 of 64.
CpuFacts bound_rank(std::vector<Ancestor> ancestors) {
  return {set("3"), set("0-63"), set("0-63"), std::move(ancestors), false, 0};
}

std::string chosen(const CpuFacts& facts, const std::string& option = "auto") {
  const auto result = choose_engine_cpus(option, facts);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  if (!result) return "refused";
  EXPECT_FALSE(result->reason.empty());
  return result->cpus.text();
}

TEST(EngineCpus, OfARankThatMpirunBoundAreThoseOfMpirun) {
  EXPECT_EQ(chosen(bound_rank({process("mpirun", "0-63"), process("bash", "0-63", true)})), "0-63");
  EXPECT_EQ(chosen(bound_rank({process("orted", "0-63", true), process("systemd", "0-63")})), "0-63");
}

TEST(EngineCpus, OfAJobWithPartOfTheNodeByAffinityStayInThatPart) {
  EXPECT_EQ(chosen(bound_rank({process("mpirun", "0-7"), process("bash", "0-63", true)})), "0-7");
  EXPECT_EQ(chosen(bound_rank({process("mpirun", "0-63"), process("bash", "0-7"), process("sh", "0-63", true)})), "0-7")
      << "a launcher that widened its own mask changes nothing about the job's";
}

TEST(EngineCpus, BeyondTheSessionAreNoneOfTheJobsBusiness) {
  EXPECT_EQ(chosen(bound_rank({process("mpirun", "0-63"), process("bash", "0-63", true), process("tmux", "3")})),
            "0-63");
  EXPECT_EQ(
      chosen(bound_rank({process("mpirun", "0-63"), process("bash", "0-63"), of_root(process("slurmstepd", "3"))})),
      "0-63");
}

TEST(EngineCpus, WithoutALauncherAreThoseOfTheProcess) {
  EXPECT_EQ(chosen(bound_rank({process("bash", "0-63", true)})), "3") << "taskset -c 3 program";
  EXPECT_EQ(chosen(bound_rank({})), "3") << "a container that hides who started it";
}

TEST(EngineCpus, LookThroughAWrapperThatWasBoundWithTheRank) {
  EXPECT_EQ(chosen(bound_rank({process("sh", "3"), process("mpirun", "0-7"), process("bash", "0-63", true)})), "0-7");
  EXPECT_EQ(chosen(bound_rank({process("sh", "3", true), process("hydra_pmi_proxy", "0-7")})), "0-7");
}

TEST(EngineCpus, AreThoseOfTheControlGroupWhereTheLauncherIsNotTheUsers) {
  CpuFacts facts = bound_rank({of_root(process("slurmstepd", "0-63"), "3-4")});
  facts.reachable = set("0-15");
  EXPECT_EQ(chosen(facts), "0-15");
  facts.ancestors = {process("mpirun", "0-63")};
  EXPECT_EQ(chosen(facts), "0-15") << "and never more";
}

TEST(EngineCpus, AreThoseOfTheRanksWhereNothingElseTellsTheJobsPart) {
  CpuFacts facts = bound_rank({of_root(process("slurmstepd", "0-63"), "3-10")});
  EXPECT_EQ(chosen(facts), "3-10") << "Slurm without control groups";
  facts.slurm_cpus = 32;
  EXPECT_EQ(chosen(facts), "3-10");
  facts.slurm_cpus = 64;
  EXPECT_EQ(chosen(facts), "0-63") << "the whole node is the job's";
  facts.ancestors = {of_root(process("slurmstepd", "0-63"))};
  facts.slurm_cpus = 0;
  EXPECT_EQ(chosen(facts), "3") << "nothing is seen of the others";
}

TEST(EngineCpus, OfASlurmJobOfRootAreNotThoseOfTheStepDaemon) {
  Ancestor step = process("slurmstepd", "0-63");
  step.children = set("2-3");
  EXPECT_EQ(chosen(bound_rank({step})), "2-3");
}

TEST(EngineCpus, KeepToWhatMpirunWasToldItself) {
  Ancestor launcher = process("mpirun", "0-63");
  launcher.children = set("2-3");
  CpuFacts facts = bound_rank({launcher, process("bash", "0-63", true)});
  facts.launcher_was_told = true;  // mpirun --cpu-set 2-3
  facts.slurm_cpus = 64;
  EXPECT_EQ(chosen(facts), "2-3");
}

TEST(EngineCpus, OfARankThatMayUseAllAreAll) {
  CpuFacts facts = bound_rank({process("mpirun", "0-7")});
  facts.own = facts.reachable;
  EXPECT_EQ(chosen(facts), "0-63");
}

TEST(EngineCpus, AreNeverFewerThanThoseOfTheRank) {
  const CpuFacts facts = bound_rank({process("mpirun", "8-15")});
  EXPECT_EQ(chosen(facts), "3,8-15");
  EXPECT_NE(choose_engine_cpus("auto", facts)->reason.find("but for 3"), std::string::npos);
}

TEST(EngineCpus, OfASystemThatSaysNothingAreLeftAlone) {
  EXPECT_EQ(chosen({}), "");
  CpuFacts facts = bound_rank({process("mpirun", "0-63")});
  facts.reachable = {};
  EXPECT_EQ(chosen(facts), "3");
  EXPECT_EQ(chosen(facts, "5-6"), "5-6") << "it may well be right";
}

TEST(EngineCpus, CountInThousands) {
  CpuFacts facts = bound_rank({process("mpirun", "0-4095")});
  facts.reachable = facts.online = set("0-4095");
  EXPECT_EQ(chosen(facts), "0-4095");
  EXPECT_EQ(chosen(facts, "1000-1999,4095"), "1000-1999,4095");
}

TEST(EngineCpus, MayBeInheritedOrListed) {
  const CpuFacts facts = bound_rank({process("mpirun", "0-63")});
  EXPECT_EQ(chosen(facts, "inherit"), "3");
  EXPECT_EQ(chosen(facts, " 8, 2-3"), "2-3,8");
}

TEST(EngineCpus, ListedOutsideOfTheControlGroupAreRefusedByNumber) {
  CpuFacts facts = bound_rank({process("mpirun", "0-63")});
  facts.reachable = set("0-7");
  const auto result = choose_engine_cpus("6-9,63", facts);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(result.error().object, "engine.cpus");
  const std::string text = result.error().text();
  EXPECT_NE(text.find("8-9,63"), std::string::npos) << text;
  EXPECT_NE(text.find("0-7"), std::string::npos) << text;
}

TEST(EngineCpus, AreRefusedByTheTableWhenTheyAreNone) {
  for (const char* value : {"auto", "inherit", "0", "2-3,8", "0-4095"})
    EXPECT_EQ(refuse_engine_cpus(value), nullptr) << value;
  for (const char* value : {"", " ", "all", "Auto", "3-2", "1,,2", "0-65536", "-1"})
    EXPECT_NE(refuse_engine_cpus(value), nullptr) << value;
  Config config;
  const auto refused = config.set("engine.cpus", "two", Origin::program);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("engine.cpus"), std::string::npos) << refused.error().text();
}

TEST(EngineCpus, OfThisMachineAreAmongThoseThatItLetsUsHave) {
  Config config;
  const auto result = engine_cpus(config);
  ASSERT_TRUE(result);
  EXPECT_TRUE((result->cpus - os::reachable_cpus()).empty()) << result->cpus.text();
  ASSERT_TRUE(config.set("engine.cpus", "65535", Origin::program));
  EXPECT_FALSE(engine_cpus(config)) << "no machine has that one";
}

}  // namespace
}  // namespace perdure::config
