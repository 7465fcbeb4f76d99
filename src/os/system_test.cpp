#include "os/system.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "os/cgroup.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::TemporaryDirectory;

TEST(ProcessAlive, SeesLivingProcessesOfAnyUser) {
  EXPECT_TRUE(process_alive(process_id()));
  EXPECT_TRUE(process_alive(1));
  EXPECT_FALSE(process_alive(0));
  EXPECT_FALSE(process_alive(-1));
}

TEST(ProcessAlive, TakesAProcessThatNobodyBuriedForDead) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);  // dead now, and still a zombie
  EXPECT_FALSE(process_alive(pid));
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_FALSE(process_alive(pid));
}

// proc(5): the name, in brackets, may hold anything; the start is the 20th field behind it.
TEST(ProcessStarted, IsWhatTheSystemSays) {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  EXPECT_EQ(std::to_string(process_started(process_id())), field);
  EXPECT_GE(process_started(process_id()), process_started(1));
  EXPECT_EQ(process_started(0), 0U);
  EXPECT_TRUE(process_lives(process_id(), process_started(process_id())));
  EXPECT_FALSE(process_lives(process_id(), process_started(process_id()) + 1)) << "another one had that number";
  EXPECT_FALSE(process_lives(INT32_MAX, 0));
}

TEST(Memory, IsBoundedByTheMachine) {
  EXPECT_GT(total_memory_bytes(), 16U << 20);
  EXPECT_GT(available_memory_bytes(), 0U);
  EXPECT_LE(available_memory_bytes(), total_memory_bytes());
}

TEST(Host, IdentityHoldsTheNameAndTheBoot) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_EQ(host_identity().rfind(host_name() + "/", 0), 0U);
  EXPECT_GT(host_identity().size(), host_name().size() + 10);
  EXPECT_GE(cpu_count(), 1U);
}

TEST(Host, WhoseProcessesMayBeNamedToEachOtherAreOfOneSpace) {
  EXPECT_EQ(process_space(), process_space());
  EXPECT_EQ(process_space().rfind(host_identity() + "/pid:[", 0), 0U) << process_space();
}

TEST(Host, HasNoIdleProcessorWhenMoreWantToRunThanThereAre) {
  std::atomic<bool> enough = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 2 * cpu_count(); ++i)
    threads.emplace_back([&] {
      while (!enough) {  // wait: it keeps a processor busy
      }
    });
  EXPECT_TRUE(test_support::eventually("no processor is idle", [] { return idle_processors() == 0; }));
  enough = true;
  for (auto& thread : threads) thread.join();
  EXPECT_LE(idle_processors(), cpu_count());
}

TEST(Host, SaysWhatItIs) {
  std::ifstream facts("/proc/cpuinfo");
  std::string said = "unknown";
  for (std::string line; std::getline(facts, line) && said == "unknown";)
    if (line.starts_with("model name")) said = line.substr(line.find(": ") + 2);
  EXPECT_EQ(processor_name(), said);
  EXPECT_NE(kernel_release().find('.'), std::string::npos);
}

TEST(Random, DoesNotRepeat) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_u64());
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Clock, SleepsAtLeastAsLongAsAsked) {
  const std::uint64_t before = monotonic_ns();
  sleep_ns(2'000'000);  // wait: this is what is tested
  EXPECT_GE(monotonic_ns() - before, 2'000'000U);
  EXPECT_GT(wall_clock_ns(), 1'700'000'000'000'000'000U);
}

TEST(Clock, IsShiftedForTests) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  const std::uint64_t wall = wall_clock_ns(), monotonic = monotonic_ns();
  shift_wall_clock(-kHour);
  shift_monotonic_clock(kHour);
  EXPECT_LT(wall_clock_ns(), wall);
  EXPECT_GE(monotonic_ns(), monotonic + kHour);
  shift_wall_clock(kHour);
  shift_monotonic_clock(-kHour);
  EXPECT_GE(wall_clock_ns(), wall);
  EXPECT_LT(monotonic_ns(), monotonic + kHour);
}

TEST(LibraryPath, IsThisProgramWhenLinkedStatically) {
  EXPECT_EQ(library_path(), std::filesystem::read_symlink("/proc/self/exe").string());
}

class Cgroup : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  MemoryLimit limit(const std::string& membership) { return cgroup_memory(membership, root_.path()); }
  TemporaryDirectory root_;
};

TEST_F(Cgroup, TakesTheLeastLimitOnTheWayUp) {
  write("job/memory.max", "1000000\n");
  write("job/memory.current", "900000\n");
  write("job/step/memory.max", "max\n");
  write("job/step/task/memory.max", "4000000\n");
  write("job/step/task/memory.current", "100000\n");
  const MemoryLimit found = limit("0::/job/step/task\n");
  EXPECT_EQ(found.limit_bytes, 1'000'000U);
  EXPECT_EQ(found.available_bytes, 100'000U);
}

TEST_F(Cgroup, CountsCacheThatCanBeDroppedAsFree) {
  write("memory.max", "1000\n");
  write("memory.current", "900\n");
  write("memory.stat", "anon 100\ninactive_file 700\nactive_file 100\n");
  EXPECT_EQ(limit("0::/").available_bytes, 800U);
}

TEST_F(Cgroup, HasNothingLeftWhenItIsOverItsLimit) {
  write("memory.max", "1000\n");
  write("memory.current", "2000\n");
  EXPECT_EQ(limit("0::/").available_bytes, 0U);
}

TEST_F(Cgroup, ReadsVersionOne) {
  write("memory/slurm/job/memory.limit_in_bytes", "5000");
  write("memory/slurm/job/memory.usage_in_bytes", "3000");
  write("memory/slurm/job/memory.stat", "cache 1\ntotal_inactive_file 500\n");
  const MemoryLimit found = limit("12:cpu,cpuacct:/x\n4:memory:/slurm/job\n1:name=systemd:/y\n0::/z\n");
  EXPECT_EQ(found.limit_bytes, 5000U);
  EXPECT_EQ(found.available_bytes, 2500U);
}

TEST_F(Cgroup, FindsTheLimitOfAContainerWhoseHostPathIsNotVisible) {
  write("memory/memory.limit_in_bytes", "7000");
  EXPECT_EQ(limit("4:memory:/docker/0123456789\n").limit_bytes, 7000U);
}

TEST_F(Cgroup, LimitsNothingWhereNothingCanBeRead) {
  for (const char* membership : {"", "garbage", "0::", "0::/missing/group\n", "::::\n", "1:memory:\n"})
    EXPECT_EQ(limit(membership).limit_bytes, UINT64_MAX) << membership;
}

}  // namespace
}  // namespace perdure::os
