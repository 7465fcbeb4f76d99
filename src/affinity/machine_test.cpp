#include "affinity/machine.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_directory.hpp"

namespace perdure::affinity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A folder like /sys/devices/system.
class SystemFolder {
 public:
  SystemFolder& put(const std::string& file, const std::string& text) {
    const std::filesystem::path path = here_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
    return *this;
  }
  MachineImage read() const { return read_machine(here_.path()); }

 private:
  test_support::TemporaryDirectory here_;
};

/// Makes two nodes with two cores of two hardware threads each, and one of memory alone, as systems number them.
void put_three_nodes(SystemFolder& folder) {
  folder.put("cpu/online", "0-7").put("node/online", "0-1,4");
  for (int cpu = 0; cpu < 8; ++cpu)
    folder.put("cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
               std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
  folder.put("node/node0/cpulist", "0-1,4-5").put("node/node0/distance", "10 20 40");
  folder.put("node/node1/cpulist", "2-3,6-7").put("node/node1/distance", "20 10 40");
  folder.put("node/node4/cpulist", "").put("node/node4/distance", "40 40 10");
  folder.put("node/node4/meminfo", "Node 4 MemFree: 1 kB\nNode 4 MemTotal:       16 kB\nNode 4 MemUsed: 3 kB");
}

TEST(Machines, AreReadWithCoresMemoryAndDistances) {
  SystemFolder folder;
  put_three_nodes(folder);
  const auto image = folder.read();
  EXPECT_THAT(image.numbers, ElementsAre(0, 1, 4));
  const auto& nodes = image.machine.nodes;
  EXPECT_THAT(nodes[0].cores, ElementsAre(plan::Cpus{0, 4}, plan::Cpus{1, 5}));
  EXPECT_THAT(nodes[1].cores, ElementsAre(plan::Cpus{2, 6}, plan::Cpus{3, 7}));
  EXPECT_THAT(nodes[2].cores, IsEmpty());
  EXPECT_EQ(nodes[2].bytes, 16U * 1024);
  EXPECT_THAT(image.machine.distances[2], ElementsAre(40U, 40U, 10U));
  EXPECT_EQ(image.wrong(), "");
  EXPECT_THAT(cpus_of(image), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Machines, WithoutNodesAreOneAndOfUnknownCoresHaveOneForEachThread) {
  SystemFolder folder;
  EXPECT_FALSE(folder.read().known());
  folder.put("cpu/online", "0,2-3");
  const auto image = folder.read();
  EXPECT_THAT(image.numbers, ElementsAre(0));
  EXPECT_THAT(image.machine.nodes[0].cores, ElementsAre(plan::Cpus{0}, plan::Cpus{2}, plan::Cpus{3}));
}

TEST(Machines, HaveOnlineProcessorsOnlyAndNoDistancesThatAreIncomplete) {
  SystemFolder folder;
  put_three_nodes(folder);
  folder.put("cpu/online", "0-3,5").put("node/node1/distance", "20 ten 40");
  const auto image = folder.read();
  EXPECT_THAT(image.machine.nodes[0].cores, ElementsAre(plan::Cpus{0}, plan::Cpus{1, 5}));
  EXPECT_THAT(image.machine.nodes[1].cores, ElementsAre(plan::Cpus{2}, plan::Cpus{3}));
  EXPECT_THAT(image.machine.distances, IsEmpty());
}

TEST(Machines, AreLimitedToWhatMayBeUsed) {
  SystemFolder folder;
  put_three_nodes(folder);
  const auto less = limited(folder.read(), {2, 6, 7}, {1, 4});
  EXPECT_THAT(less.numbers, ElementsAre(1, 4));
  EXPECT_THAT(less.machine.nodes[0].cores, ElementsAre(plan::Cpus{2, 6}, plan::Cpus{7}));
  EXPECT_THAT(less.machine.distances, ElementsAre(ElementsAre(10U, 40U), ElementsAre(40U, 10U)));
  EXPECT_FALSE(limited(folder.read(), {99}, {1, 4}).known()) << "no processor of it";
}

TEST(Machines, ThatCannotBeAreWrong) {
  const MachineImage good{{0, 1}, {{{{{0}}, 0}, {{{1}}, 0}}, {}}};
  ASSERT_EQ(good.wrong(), "");
  EXPECT_EQ(MachineImage{}.wrong(), "");
  auto image = good;
  image.numbers = {1, 0};
  EXPECT_EQ(image.wrong(), "field 'numbers' does not ascend");
  image.numbers = {0};
  EXPECT_EQ(image.wrong(), "field 'numbers' is not one a node");
  image = good;
  image.machine.nodes[1].cores = {{0}};
  EXPECT_EQ(image.wrong(), "field 'machine' has a processor twice");
  image.machine.nodes[0].cores = image.machine.nodes[1].cores = {};
  EXPECT_EQ(image.wrong(), "field 'machine' has no processor");
  image = good;
  image.machine.distances = {{10, 20}};
  EXPECT_EQ(image.wrong(), "field 'machine' has distances of other nodes");
  image.machine.distances = {{10, 20}, {10}};
  EXPECT_EQ(image.wrong(), "field 'machine' has distances of other nodes");
}

TEST(Machines, ThatWeRunOnAreKnown) {
  EXPECT_TRUE(machine_here().known());
  EXPECT_EQ(&machine_here(), &machine_here());
}

}  // namespace
}  // namespace perdure::affinity
