#include "os/cpu_facts.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/affinity.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

// Makes up a /proc.
class Processes : public testing::Test {
 protected:
  void add(int pid, const std::string& name, int parent, int session, const std::string& cpus,
           const std::string& uid = "1000") {
    const std::string here = directory_ / std::to_string(pid);
    std::filesystem::create_directories(here + "/task/" + std::to_string(pid));
    write(here + "/status", "Name:\t" + name + "\nState:\tS (sleeping)\nPPid:\t" + std::to_string(parent) + "\nUid:\t" +
                                uid + "\t" + uid + "\t" + uid + "\t" + uid +
                                "\nCpus_allowed:\tff\nCpus_allowed_list:\t" + cpus + "\n");
    write(here + "/stat", std::to_string(pid) + " (" + name + ") S " + std::to_string(parent) + " " +
                              std::to_string(pid) + " " + std::to_string(session) + " 0 -1 4194304 1 2 3\n");
  }
  void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  CpuFacts facts(int pid) { return gather_cpu_facts({directory_.path(), directory_ / "online", pid}); }
  test_support::TemporaryDirectory directory_;
};

TEST_F(Processes, AreFollowedFromParentToParent) {
  write(directory_ / "online", "0-63\n");
  add(1, "systemd", 0, 1, "0-63", "0");
  add(20, "sshd", 1, 20, "0-63", "0");
  add(30, "bash", 20, 30, "0-31");
  add(40, "mpirun.openmpi", 30, 30, "0-15");
  add(50, "app", 40, 30, "3");
  add(51, "app", 40, 30, "4");
  add(52, "other", 40, 30, "60", "1001");
  write(directory_ / "40/task/40/children", "50 51 52 99 ");
  const CpuFacts found = facts(50);
  EXPECT_EQ(found.online.text(), "0-63");
  ASSERT_EQ(found.ancestors.size(), 4U);
  const Ancestor& launcher = found.ancestors[0];
  EXPECT_EQ(launcher.name, "mpirun.openmpi");
  EXPECT_TRUE(launcher.launcher && launcher.same_user && !launcher.session_leader);
  EXPECT_EQ(launcher.cpus.text(), "0-15");
  EXPECT_EQ(launcher.children.text(), "3-4") << "of our user, and those that are there";
  EXPECT_TRUE(found.ancestors[1].session_leader && !found.ancestors[1].launcher);
  EXPECT_EQ(found.ancestors[1].cpus.text(), "0-31");
  EXPECT_FALSE(found.ancestors[2].same_user);
  EXPECT_EQ(found.ancestors[3].name, "systemd");
}

TEST_F(Processes, WithHostileNamesAreWhatTheyAre) {
  add(30, "x) S 1 1 30 (", 1, 7, "0-7");
  add(50, "app", 30, 30, "3");
  write(directory_ / "30/status",
        "Name:\tUid:\\nCpus_allowed_list:\\t0-99\nPPid:\t1\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7\n");
  const CpuFacts found = facts(50);
  ASSERT_EQ(found.ancestors.size(), 1U);
  EXPECT_EQ(found.ancestors[0].cpus.text(), "0-7");
  EXPECT_FALSE(found.ancestors[0].session_leader) << "session 7, whatever the name says";
}

TEST_F(Processes, ThatMakeNoSenseEndTheChain) {
  for (const char* cpus : {"", "none", "0-99999999", "1-", "0-3,x"}) {
    add(30, "mpirun", 1, 30, cpus);
    add(50, "app", 30, 30, "3");
    EXPECT_TRUE(facts(50).ancestors.empty()) << cpus;
  }
  EXPECT_TRUE(facts(4711).ancestors.empty()) << "nobody";
  write(directory_ / "50/status", std::string(3 << 20, 'x'));
  EXPECT_TRUE(facts(50).ancestors.empty());
}

TEST_F(Processes, ThatAreTheirOwnAncestorsAreNotFollowedForEver) {
  add(30, "a", 31, 30, "0");
  add(31, "b", 30, 30, "0");
  EXPECT_LE(facts(30).ancestors.size(), 64U);
}

TEST_F(Processes, OfLargeNodesAreRead) {
  std::string every_second = "0";
  for (unsigned cpu = 2; cpu < 4096; cpu += 2) every_second += "," + std::to_string(cpu);
  add(30, "orted", 1, 30, every_second);
  add(50, "app", 30, 30, "4094");
  const CpuFacts found = facts(50);
  ASSERT_EQ(found.ancestors.size(), 1U);
  EXPECT_EQ(found.ancestors[0].cpus.count(), 2048U);
  EXPECT_EQ(found.ancestors[0].cpus.text(), every_second);
}

TEST(Launchers, AreKnownByTheirNames) {
  for (const char* name : {"mpirun", "mpirun.openmpi", "mpiexec.hydra", "orted", "hydra_pmi_proxy", "slurmstepd"})
    EXPECT_TRUE(launches_ranks(name)) << name;
  for (const char* name : {"bash", "srun-wrapper.sh", "python3", "sshd", "perdure", "my_mpirun", ""})
    EXPECT_FALSE(launches_ranks(name)) << name;
}

TEST(CpuFacts, OfThisProcessNameItsParent) {
  const CpuFacts found = gather_cpu_facts();
  EXPECT_EQ(found.own, own_cpus());
  EXPECT_TRUE((found.own - found.online).empty());
  std::ifstream file("/proc/" + std::to_string(::getppid()) + "/comm");
  std::string parent;
  std::getline(file, parent);
  ASSERT_FALSE(found.ancestors.empty());
  EXPECT_EQ(found.ancestors.front().name, parent);
}

TEST(CpuFacts, KnowWhatSlurmAndALauncherTell) {
  ::setenv("SLURM_CPUS_ON_NODE", "128", 1);
  ::setenv("OMPI_MCA_hwloc_base_cpu_set", "0-3", 1);
  const CpuFacts told = gather_cpu_facts();
  ::setenv("SLURM_CPUS_ON_NODE", "128(x2)", 1);
  ::unsetenv("OMPI_MCA_hwloc_base_cpu_set");
  const CpuFacts untold = gather_cpu_facts();
  ::unsetenv("SLURM_CPUS_ON_NODE");
  EXPECT_EQ(told.slurm_cpus, 128U);
  EXPECT_TRUE(told.launcher_was_told);
  EXPECT_EQ(untold.slurm_cpus, 0U);
  EXPECT_FALSE(untold.launcher_was_told);
}

}  // namespace
}  // namespace perdure::os
