// Threads and pages come back to the places that a checkpoint noted.
#include "client/region_places.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "affinity/region_nodes.hpp"
#include "os/affinity.hpp"
#include "os/memory_nodes.hpp"
#include "support/eventually.hpp"

namespace perdure::client {
namespace {

config::Config with_affinity(const std::string& mode) {
  config::Config config;
  EXPECT_TRUE(config.set("affinity", mode, config::Origin::program));
  return config;
}

os::CpuSet last_of(const os::CpuSet& cpus) {
  os::CpuSet last;
  for (unsigned cpu = 0; cpu < cpus.words().size() * 64; ++cpu)
    if (cpus.contains(cpu)) last = {cpu};
  return last;
}

/// A region whose memory is this object's.
class OneRegion {
 public:
  OneRegion() : memory_(2 * affinity::kLeastNotedBytes) {
    EXPECT_TRUE(table_.protect({5, memory_.data(), 1, memory_.size()}));
  }
  const capture::RegionTable& table() const { return table_; }
  std::vector<segment::RegionEntry> noted(RegionPlaces& places) const {
    auto described = PlacedSource(table_, places).describe();
    return described ? described->entries : std::vector<segment::RegionEntry>();
  }

 private:
  std::vector<std::byte> memory_;
  capture::RegionTable table_;
};

/// A thread that gives itself a number with `places` and lives until it is told to end.
class NumberedThread {
 public:
  NumberedThread(RegionPlaces& places, std::int32_t id, const os::CpuSet& cpus)
      : thread_([this, &places, id, cpus] {
          os::use_cpus(cpus);
          EXPECT_TRUE(places.name_thread(id));
          number_ = os::thread_number();
          number_.notify_all();
          ends_.wait(false);
        }) {
    number_.wait(0);
  }
  ~NumberedThread() { end(); }
  NumberedThread(const NumberedThread&) = delete;
  NumberedThread& operator=(const NumberedThread&) = delete;
  void end() {
    ends_ = true;
    ends_.notify_all();
    if (!thread_.joinable()) return;
    thread_.join();
    EXPECT_TRUE(
        test_support::eventually("the kernel has given the thread's number back", [this] { return cpus().empty(); }));
  }
  os::CpuSet cpus() const { return os::cpus_of_thread(number_); }

 private:
  std::atomic<int> number_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

TEST(RegionPlaces, OfThreadsWithNumbersComeBack) {
  const os::CpuSet all = os::own_cpus(), last = last_of(all);
  const OneRegion region;
  std::vector<segment::RegionEntry> stored;
  {
    RegionPlaces places(with_affinity("keep"));
    const NumberedThread bound(places, 3, last), free(places, 4, all);
    stored = region.noted(places);
  }
  for (const bool on : {true, false}) {
    RegionPlaces places(with_affinity(on ? "keep" : "none"));
    const NumberedThread three(places, 3, all), four(places, 4, all), nine(places, 9, all);
    places.bring_back(region.table(), stored, {5});
    EXPECT_EQ(three.cpus(), on ? last : all);
    EXPECT_EQ(four.cpus(), all);
    EXPECT_EQ(nine.cpus(), all) << "nobody had this number";
  }
  EXPECT_EQ(os::own_cpus(), all);
}

TEST(RegionPlaces, OfThreadsThatHaveEndedAreForgotten) {
  const OneRegion region;
  RegionPlaces places(with_affinity("keep"));
  NumberedThread thread(places, 1, os::own_cpus());
  EXPECT_TRUE(affinity::places_of(region.noted(places)).has_value());
  thread.end();
  const auto then = affinity::places_of(region.noted(places));
  EXPECT_TRUE(!then || then->threads.empty());
}

TEST(RegionPlaces, ThatAreNotWantedAreNotNoted) {
  const OneRegion region;
  for (const char* mode : {"none", "reset"}) {
    RegionPlaces places(with_affinity(mode));
    const NumberedThread thread(places, 1, os::own_cpus());
    EXPECT_TRUE(region.noted(places).at(0).plain()) << mode << ": as before there were places";
  }
}

TEST(RegionPlaces, OfPagesAreNotedWhereThereAreSeveralNodesOnly) {
  const OneRegion region;
  RegionPlaces places(with_affinity("pages"));
  EXPECT_EQ(affinity::nodes_of(region.noted(places).at(0)).known(), os::has_several_nodes());
}

TEST(RegionPlaces, TakeNoNumberThatIsNone) {
  RegionPlaces places(with_affinity("keep"));
  EXPECT_EQ(places.name_thread(-1).error().code, PERDURE_INVALID_ARGUMENT);
  for (std::int32_t id = 0; id < 4096; ++id) ASSERT_TRUE(places.name_thread(id));
  EXPECT_TRUE(places.name_thread(7)) << "again";
  EXPECT_EQ(places.name_thread(4096).error().code, PERDURE_INVALID_ARGUMENT);
}

// Whatever the writer said, threads end up on processors, and pages on nodes with memory.
TEST(RegionPlaces, OfEntriesThatSayWhatCannotBeAreLeftAlone) {
  const OneRegion region;
  RegionPlaces places(with_affinity("keep"));
  const NumberedThread thread(places, 1, os::own_cpus());
  auto stored = region.noted(places);
  stored[0].attributes["places.0"] = std::vector<std::byte>(100, std::byte{0x7f});
  stored[0].attributes["nodes"] = std::vector<std::int64_t>{1'000'000, 1};
  places.bring_back(region.table(), stored, {5});
  EXPECT_EQ(thread.cpus(), os::own_cpus());
}

}  // namespace
}  // namespace perdure::client
