#include "os/affinity.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

// Returns a proper subset of `cpus` to move a thread to, if there is more than one processor.
CpuSet first_of(const CpuSet& cpus) {
  for (unsigned number = 0;; ++number)
    if (cpus.contains(number)) return {number};
}

void write_line(const std::string& path, const std::string& line) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << line << "\n";
}

TEST(Affinity, SaysWhatThisThreadHasAndWhatItCouldHave) {
  ASSERT_FALSE(own_cpus().empty());
  EXPECT_TRUE((own_cpus() - reachable_cpus()).empty()) << own_cpus().text() << " of " << reachable_cpus().text();
}

TEST(Affinity, MovesTheWorkAndWhatItStartsButNotTheCaller) {
  const CpuSet before = own_cpus(), wanted = first_of(before);
  CpuSet started;
  const CpuSet during = on_cpus(wanted, [&] {
    std::thread([&] { started = own_cpus(); }).join();
    return own_cpus();
  });
  EXPECT_EQ(during, wanted);
  EXPECT_EQ(started, wanted);
  EXPECT_EQ(own_cpus(), before);
}

TEST(Affinity, ReachesBeyondTheMaskOfTheCallersThread) {
  const CpuSet wanted = first_of(own_cpus()), all = reachable_cpus();
  on_cpus(wanted, [&] {
    EXPECT_EQ(own_cpus(), wanted);
    EXPECT_EQ(reachable_cpus(), all);
    EXPECT_EQ(on_cpus(all, [] { return own_cpus(); }), all);
    EXPECT_EQ(own_cpus(), wanted) << "asking for all moved who asked";
    return true;
  });
}

TEST(Affinity, StaysOnTheCallersThreadWhenNothingIsToChange) {
  const auto self = std::this_thread::get_id();
  EXPECT_EQ(on_cpus({}, [] { return std::this_thread::get_id(); }), self);
  EXPECT_EQ(on_cpus(own_cpus(), [] { return std::this_thread::get_id(); }), self);
}

TEST(Affinity, HandsOnWhatTheWorkThrows) {
  const CpuSet elsewhere = own_cpus().count() > 1 ? first_of(own_cpus()) : CpuSet{CpuSet::kMost - 1};
  EXPECT_THROW(on_cpus(elsewhere, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
}

TEST(Affinity, LeavesAThreadWhereItIsWhenNoneOfTheProcessorsIsThere) {
  const CpuSet before = own_cpus();
  EXPECT_EQ(on_cpus(CpuSet{CpuSet::kMost - 1}, [] { return own_cpus(); }), before);
}

TEST(CpusNear, AreThoseOfTheSameMemory) {
  test_support::TemporaryDirectory nodes;
  write_line(nodes / "online", "0,2-3");
  write_line(nodes / "node0/cpulist", "0-3,8-11");
  write_line(nodes / "node2/cpulist", "4-7,12-15");
  write_line(nodes / "node3/cpulist", "");  // a node of memory without processors
  EXPECT_EQ(cpus_near({1}, nodes.path()).text(), "0-3,8-11");
  EXPECT_EQ(cpus_near({12}, nodes.path()).text(), "4-7,12-15");
  EXPECT_EQ(cpus_near({3, 4}, nodes.path()).text(), "0-15");
}

TEST(CpusNear, AreTheGivenOnesWhereTheSystemDoesNotSay) {
  test_support::TemporaryDirectory nodes;
  EXPECT_EQ(cpus_near({1, 5}, nodes.path()).text(), "1,5");
  write_line(nodes / "online", "0");
  write_line(nodes / "node0/cpulist", "what?");
  EXPECT_EQ(cpus_near({1, 5}, nodes.path()).text(), "1,5");
}

}  // namespace
}  // namespace perdure::os
