// These tests use tracked regions of the C++ veneer, over the real library. A life ends by leaving everything behind,
// as a killed process does. models/automatic tests real kills, and several ranks.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "perdure/perdure_track.hpp"

namespace {

using perdure::Array;
using perdure::indices;
using perdure::Track;
using namespace perdure::tracked;

constexpr std::uint64_t kTrackedRows = 8, kTrackedColumns = 6;

/// Cells with a frame around them, and the program's values about them.
struct TrackedPlate {
  explicit TrackedPlate(double value) : cells((kTrackedRows + 2) * (kTrackedColumns + 2), value) {}
  double& at(std::uint64_t i, std::uint64_t j) { return cells[i * (kTrackedColumns + 2) + j]; }
  void add(double number) {
    for (std::uint64_t i = 1; i <= kTrackedRows; ++i)
      for (std::uint64_t j = 1; j <= kTrackedColumns; ++j) at(i, j) += number;
  }
  double sum() {
    double sum = 0;
    for (std::uint64_t i = 1; i <= kTrackedRows; ++i)
      for (std::uint64_t j = 1; j <= kTrackedColumns; ++j) sum += at(i, j);
    return sum;
  }
  perdure::Box<double> box() {
    return {indices(0, 0), perdure::View<double, 2>(cells, {kTrackedRows + 2, kTrackedColumns + 2})};
  }
  std::vector<double> cells;
};

Array plate_array(const std::string& name) { return {name, indices(kTrackedRows + 2, kTrackedColumns + 2)}; }

double advance(TrackedPlate& now, TrackedPlate& next, const std::vector<double>& weights) {
  double change = 0;
  next = now;
  for (std::uint64_t i = 1; i <= kTrackedRows; ++i)
    for (std::uint64_t j = 1; j <= kTrackedColumns; ++j) {
      next.at(i, j) = weights[0] * now.at(i, j) +
                      weights[1] * (now.at(i - 1, j) + now.at(i + 1, j) + now.at(i, j - 1) + now.at(i, j + 1));
      change += std::abs(next.at(i, j) - now.at(i, j));
    }
  return change;
}

/// A process that is gone.
struct TrackedDeath {};

class TrackedRegions : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/perdure-cpp-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  perdure::Handle open() {
    return perdure::open("store.path=" + directory_ + "/store;node.path=" + directory_ +
                         "/node;tier.file.path=" + directory_ + "/file;tier.memory.max_bytes=64MiB")
        .value();
  }
  static Track track(perdure::Handle& handle) {
    perdure::TrackPolicy policy;
    policy.name = "plate";
    policy.every_regions = 5;
    policy.learns = 12;
    return Track::open(handle, policy).value();
  }
  static void expect_refused(const perdure::Status& status, const std::string& part,
                             perdure_status code = PERDURE_INVALID_ARGUMENT) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, code) << status.error().text;
    EXPECT_NE(status.error().text.find(part), std::string::npos) << status.error().text;
  }

  /// Returns the plate's value when it hardly changes any more. The process dies before step `dies`.
  double cool_down(int dies, const std::string& last = "sum") {
    auto handle = open();
    auto track = TrackedRegions::track(handle);
    std::vector<double> weights{0.2, 0.2};
    TrackedPlate plates[2] = {TrackedPlate(1), TrackedPlate(0)};
    TrackedPlate *here = &plates[0], *there = &plates[1];
    here->at(3, 3) = 90;
    const Data now = track.array(plate_array("now"), here->box()).value();
    const Data next = track.array(plate_array("next"), {there->box()}).value();
    const Data shared = track.replicated({"weights"}, weights).value();
    track.start().value();
    double change = 1, sum = 0;
    ran_ = 0;
    for (int step = 0; change > 1e-3; ++step) {
      if (step == dies) throw TrackedDeath();
      track
          .region("advance", {reads(now), reads(shared), writes(next), gives(change)},
                  [&] { change = advance(*here, *there, weights), ++ran_; })
          .value();
      std::swap(here, there);
      track.swap(now, next).value();
      track.tick().value();
    }
    const std::vector<Access> uses{within(reads(now), indices(1, 1), indices(9, 7)), gives(sum)};
    track.region(last, uses, [&] { sum = here->sum(); }).value();
    info_ = track.info().value();
    EXPECT_FALSE(track.next_report().value().has_value());
    track.close().value();
    return sum;
  }
  std::string directory_;
  perdure::TrackInfo info_{};
  int ran_ = 0;
};

constexpr int kNever = -1;

TEST_F(TrackedRegions, ThatWereDoneAreSkippedWhenTheProgramBeginsAnew) {
  const double expected = cool_down(kNever);
  const int all = ran_;
  ASSERT_GT(all, 60);
  EXPECT_EQ(info_.restarted, 0);
  EXPECT_GT(info_.checkpoints, 3U);
  EXPECT_STREQ(info_.last_before, "advance");
  std::filesystem::remove_all(directory_ + "/store");
  std::filesystem::remove_all(directory_ + "/node");
  std::filesystem::remove_all(directory_ + "/file");
  EXPECT_THROW((void)cool_down(40), TrackedDeath);
  EXPECT_EQ(cool_down(kNever), expected);
  EXPECT_EQ(info_.restarted, 1);
  EXPECT_GT(info_.goes_on_at, 40U) << "a step has two, with the swap";
  EXPECT_LT(ran_, all - 20);
}

TEST_F(TrackedRegions, OfAnotherProgramAreRefused) {
  EXPECT_THROW((void)cool_down(40), TrackedDeath);
  auto handle = open();
  auto track = TrackedRegions::track(handle);
  std::vector<double> weights(2);
  TrackedPlate one(0), other(0);
  (void)track.array(plate_array("now"), one.box()).value();
  (void)track.array(plate_array("next"), other.box()).value();
  (void)track.replicated({"weights"}, weights).value();
  track.start().value();
  expect_refused(track.region("another", {touches_all()}, [] {}), "another", PERDURE_MISMATCH);
  EXPECT_EQ(track.tick().error().code, PERDURE_MISMATCH) << "it stays so";
  EXPECT_EQ(track.close().error().code, PERDURE_MISMATCH);
  EXPECT_TRUE(track.close()) << "it is closed";
}

/// A Track with two arrays that differ.
class TrackRefusals : public TrackedRegions {
 protected:
  void SetUp() override {
    TrackedRegions::SetUp();
    handle_ = open();
    begin_anew();
  }
  void TearDown() override {
    (void)track_.close();
    (void)handle_.close();
    TrackedRegions::TearDown();
  }
  void begin_anew() {
    (void)track_.close();
    track_ = TrackedRegions::track(handle_);
    plate_data_ = track_.array(plate_array("plate"), plate_.box()).value();
    number_data_ = track_.replicated({"number"}, number_).value();
  }
  void refused(const perdure::Status& status, const std::string& part) {
    expect_refused(status, part);
    expect_refused(track_.trigger(), part);
    begin_anew();
  }
  perdure::Handle handle_;
  Track track_;
  TrackedPlate plate_{0};
  double number_ = 0;
  Data plate_data_, number_data_;
};

TEST_F(TrackRefusals, NameTheDataOrTheRegion) {
  const auto status = [](const perdure::Result<Data>& result) {
    return result ? perdure::Status() : perdure::Status(result.error());
  };
  const perdure::Box<double> line(indices(0), indices(3), &plate_.at(0, 0));
  refused(status(track_.array(plate_array("other"), line)), "data 'other': a box has not as many dimensions");
  refused(status(track_.array(plate_array("plate"), plate_.box())), "'plate': there is one of that name");
  refused(status(track_.replicated(Array{"two", indices(2)}, number_)), "of 2 elements, in memory are 1");
  refused(track_.region("early", {reads(plate_data_)}, [] {}), "before the start");
  track_.start().value();
  refused(track_.swap(plate_data_, number_data_), "a swap of data 'plate' and data 'number'");
  track_.start().value();
  refused(track_.region("part", {within(reads(plate_data_), indices(1), indices(2))}, [] {}), "region 'part'");
  track_.start().value();
  refused(track_.region("part", {within(reads(plate_data_), indices(1, 1), indices(2, 99))}, [] {}), "region 'part'");
  track_.start().value();
  refused(track_.region("none", {reads(Data())}, [] {}), "data -1");
  track_.start().value();
  float elsewhere = 0;
  refused(track_.moved(plate_data_, perdure::Box<float>(indices(0, 0), indices(1, 1), &elsewhere)), "have 8 bytes");
}

TEST_F(TrackRefusals, OfARegionWithinAnotherComeFromBoth) {
  track_.start().value();
  perdure::Status inner;
  const auto outer = track_.region("outer", {writes(plate_data_)},
                                   [&] { inner = track_.region("inner", {reads(plate_data_)}, [] {}); });
  expect_refused(inner, "'inner': it comes within region 'outer'");
  expect_refused(outer, "'inner': it comes within region 'outer'");
}

TEST_F(TrackRefusals, OfAPolicyComeWithTheirReason) {
  perdure::TrackPolicy policy;
  policy.every_s = -1;
  const auto opened = Track::open(handle_, policy);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().text.find("every_s"), std::string::npos) << opened.error().text;
  Track closed = std::move(track_);
  EXPECT_EQ(track_.start().error().code, PERDURE_CLOSED);  // NOLINT: the moved-from state is what is tested
  EXPECT_EQ(track_.region("none", {}, [] {}).error().code, PERDURE_CLOSED);
  closed.close().value();
  EXPECT_EQ(closed.moved(plate_data_, plate_.box()).error().code, PERDURE_CLOSED);
}

TEST_F(TrackRefusals, DoNotComeOfARegionThatThrows) {
  track_.start().value();
  const auto throws = [&] { throw std::runtime_error("no more"); };
  EXPECT_THROW((void)track_.region("throws", {writes(plate_data_)}, throws), std::runtime_error);
  bool ran = false;
  EXPECT_TRUE(track_.region("next", {reads_writes(plate_data_)}, [&] { ran = true; })) << "no region is open";
  EXPECT_TRUE(ran);
  EXPECT_EQ(track_.info().value().regions, 2U);
}

// The array is elsewhere in each step, and the program can begin at a step.
TEST_F(TrackedRegions, AreLeftOutWhereThePayloadSaysWhereToGo) {
  for (const int dies : {33, 40}) {
    auto handle = open();
    auto track = TrackedRegions::track(handle);
    std::vector<long> memory(42, -7);
    memory[0] = 1;
    const auto at = [&](int i) { return perdure::Box<long>(indices(0), indices(1), &memory[std::size_t(i)]); };
    const Data value = track.array({"value", indices(1)}, at(0)).value();
    track.start().value();
    int began_at = 0;
    for (int step = 0, moved = 0; step < dies; ++step) {
      if (track.fast_forward(step).value()) began_at = step;
      if (moved != step) {
        std::swap(memory[std::size_t(step)], memory[std::size_t(moved)]);
        track.moved(value, at(moved = step)).value();
      }
      track.region("add", {reads_writes(value)}, [&] { memory[std::size_t(step)] += step; }).value();
    }
    EXPECT_EQ(began_at > 20, dies == 40) << began_at;
    EXPECT_EQ(memory[std::size_t(dies - 1)], 1 + dies * (dies - 1) / 2);
  }
}

// The array has a frame of ghosts around it, which stays as it is.
TEST_F(TrackedRegions, FillAnArrayWithGhostsWhereItLiesNow) {
  for (const int dies : {33, 40}) {
    auto handle = open();
    auto track = TrackedRegions::track(handle);
    TrackedPlate before(-7), after(-7);
    const auto inside = [](TrackedPlate& plate) {
      return perdure::Box<double>(indices(0, 0), indices(kTrackedRows, kTrackedColumns), &plate.at(1, 1));
    };
    const Array array{"cells", indices(kTrackedRows, kTrackedColumns), indices(1, 1)};
    const Data cells = track.array(array, inside(before)).value();
    track.start().value();
    track.region("begin", {writes(cells)}, [&] { before.add(7); }).value();
    std::swap(before.cells, after.cells);
    track.moved(cells, inside(after)).value();
    for (int step = 0; step < dies; ++step)
      track.region("add", {reads_writes(cells)}, [&] { after.add(step); }).value();
    EXPECT_EQ(track.info().value().restarted, dies == 40 ? 1 : 0);
    for (std::uint64_t i = 0; i < kTrackedRows + 2; ++i) EXPECT_EQ(after.at(i, 0), -7);
    EXPECT_EQ(after.at(1, 1), dies * (dies - 1) / 2);
    EXPECT_EQ(after.at(kTrackedRows, kTrackedColumns), dies * (dies - 1) / 2);
  }
}

TEST_F(TrackedRegions, AreSavedWhenASignalAsksForIt) {
  auto handle = open();
  perdure::TrackPolicy policy;
  policy.learns = 12;
  policy.on_signals = true;
  auto track = Track::open(handle, policy).value();
  double value = 0;
  const Data data = track.replicated({"value"}, value).value();
  track.start().value();
  for (int step = 0; step < 60; ++step) {
    if (step == 30) {
      EXPECT_EQ(track.info().value().checkpoints, 0U);
    }
    if (step == 30) std::raise(SIGUSR1);
    track.region("add", {reads_writes(data)}, [&] { value += step; }).value();
    track.tick().value();
  }
  EXPECT_EQ(track.info().value().checkpoints, 1U);
}

}  // namespace
