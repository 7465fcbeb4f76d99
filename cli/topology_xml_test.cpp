// The XML of a machine is what hwloc reads.
#include "cli/topology_xml.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <map>

namespace perdure::cli {
namespace {

using testing::HasSubstr;

/// Makes two nodes with two cores of two hardware threads each, and one of memory alone. The system numbers them 0, 1
/// and 4.
affinity::MachineImage three_nodes() {
  affinity::MachineImage image;
  image.numbers = {0, 1, 4};
  image.machine.nodes = {{{{0, 4}, {1, 5}}, 1 << 30}, {{{2, 6}, {3, 7}}, 1 << 30}, {{}, 1 << 20}};
  image.machine.distances = {{10, 21, 17}, {21, 10, 28}, {17, 28, 10}};
  return image;
}

/// Loads the description into hwloc, if it is installed: it is not linked.
class Hwloc {
 public:
  Hwloc() : library_(::dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL)) {}
  ~Hwloc() {
    if (topology_ != nullptr) function<void(void*)>("hwloc_topology_destroy")(topology_);
  }
  Hwloc(const Hwloc&) = delete;
  Hwloc& operator=(const Hwloc&) = delete;
  bool installed() const { return library_ != nullptr; }
  bool load(const std::string& xml) {
    function<int(void**)>("hwloc_topology_init")(&topology_);
    return function<int(void*, const char*, int)>("hwloc_topology_set_xmlbuffer")(
               topology_, xml.c_str(), static_cast<int>(xml.size()) + 1) == 0 &&
           function<int(void*)>("hwloc_topology_load")(topology_) == 0;
  }
  /// Ends the program if hwloc finds its own tree wrong.
  void check() { function<void(void*)>("hwloc_topology_check")(topology_); }
  unsigned count(int type) {
    const int depth = function<int(void*, int)>("hwloc_get_type_depth")(topology_, type);
    return function<unsigned(void*, int)>("hwloc_get_nbobjs_by_depth")(topology_, depth);
  }

 private:
  template <class F>
  F* function(const char* name) {
    return reinterpret_cast<F*>(::dlsym(library_, name));
  }
  void* library_;
  void* topology_ = nullptr;
};
constexpr int kCore = 2, kThread = 3, kNumaNode = 13;  // constants of hwloc's interface, version 2

TEST(TopologyXml, HasWhatTheMachineHas) {
  const std::string xml = topology_xml(three_nodes());
  EXPECT_THAT(xml, HasSubstr("<object type=\"Machine\" os_index=\"0\" cpuset=\"0x000000ff\""));
  EXPECT_THAT(xml, HasSubstr("<object type=\"NUMANode\" os_index=\"4\" cpuset=\"0x0\""));
  EXPECT_THAT(xml, HasSubstr("<object type=\"Core\" os_index=\"3\" cpuset=\"0x00000088\""));
  EXPECT_THAT(xml, HasSubstr("local_memory=\"1048576\""));
  EXPECT_THAT(xml, HasSubstr("<u64values length=\"27\">10 21 17 21 10 28 17 28 10 </u64values>"));
}

TEST(TopologyXml, OfManyProcessorsHasWordsOfSets) {
  affinity::MachineImage image{{0}, {{{{{0, 40}}, 0}}, {}}};
  EXPECT_THAT(topology_xml(image), HasSubstr("cpuset=\"0x00000100,0x00000001\""));
}

TEST(TopologyXml, IsReadByHwlocAsTheSameMachine) {
  Hwloc hwloc;
  if (!hwloc.installed()) GTEST_SKIP() << "there is no libhwloc.so.15 (Debian: libhwloc15)";
  ASSERT_TRUE(hwloc.load(topology_xml(three_nodes())));
  hwloc.check();
  EXPECT_EQ(hwloc.count(kThread), 8U);
  EXPECT_EQ(hwloc.count(kCore), 4U);
  EXPECT_EQ(hwloc.count(kNumaNode), 3U);
}

TEST(TopologyXml, OfThisMachineIsReadByHwloc) {
  Hwloc hwloc;
  if (!hwloc.installed()) GTEST_SKIP() << "there is no libhwloc.so.15 (Debian: libhwloc15)";
  ASSERT_TRUE(hwloc.load(topology_xml(affinity::machine_here())));
  hwloc.check();
  EXPECT_EQ(hwloc.count(kThread), affinity::cpus_of(affinity::machine_here()).size());
}

}  // namespace
}  // namespace perdure::cli
