#include "calibration/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "os/fault_rules.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "placement/sampling.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::calibration {
namespace {

using test_support::TemporaryDirectory;
using testing::HasSubstr;

constexpr std::uint64_t kChunk = 256 << 10;

device::Node shipped(const std::string& name) {
  const std::string path = std::string(PERDURE_DEVICES) + "/" + name;
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return device::parse_description(text.str(), path).value();
}

std::vector<unsigned> all_counts(unsigned max_writers) {
  std::vector<unsigned> counts;
  for (unsigned k = 1; k <= max_writers; ++k) counts.push_back(k);
  return counts;
}

TEST(Measure, AnEmulatedDeviceIsAsFastAsDescribed) {
  device::Device device;
  device.throughput = device::Curve::through({{1, 100e6}, {11, 600e6}}, "disk").value();
  const auto bench = emulated_bench(device, 1);
  const auto measured = measure(*bench, {{1, 6, 11, 40}, 64 << 20, 2, {}}).value();
  ASSERT_EQ(measured.recycled.size(), 4u);
  EXPECT_TRUE(measured.fresh.empty());
  for (const auto& sample : measured.recycled)
    EXPECT_NEAR(sample.bytes_per_s / device.throughput.at(sample.writers), 1, 1e-9) << sample.writers;
}

// Repeats the paper's Figure 3 with the shipped tiers. Predictions from a tenth of the measurements are compared with
// measurements of every count, at another time of the same varying device.
TEST(Measure, ATenthOfTheMeasurementsPredictsEveryShippedTier) {
  for (const char* name : {"veloc-node.toml", "modern-node.toml", "laptop.toml"})
    for (const auto& tier : shipped(name).tiers) {
      const auto bench = emulated_bench(tier, 1);
      const auto stage = [&](const std::vector<unsigned>& counts) {
        return measure(*bench, {counts, 64 << 20, 5, {}});
      };
      const auto samples = measure_where_it_bends(256, stage).value().recycled;
      ASSERT_LE(samples.size(), 26u);
      const auto model = placement::DeviceModel::fit(samples, 256).value();
      const auto every = measure(*emulated_bench(tier, 2), {all_counts(256), 64 << 20, 5, {}}).value().recycled;
      const auto result = placement::accuracy(model, every);
      EXPECT_EQ(result.compared, 256u);
      EXPECT_LT(result.mean_error, 0.05) << name << " " << tier.name;
      EXPECT_LT(result.worst_error, 0.15) << name << " " << tier.name << " at " << result.worst_writers;
    }
}

class Tiers : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Tiers, testing::Values("memory", "file"));

TEST_P(Tiers, AreMeasuredWithFreshAndRecycledSlotsAndLeftClean) {
  const TemporaryDirectory directory(TemporaryDirectory::Place::memory);
  std::uint64_t reported = 0;
  const Plan plan{{1, 2, 3}, kChunk, 2, [&](std::uint64_t bytes) { reported += bytes; }};
  const auto bench = tier_bench({GetParam(), directory / "tier", 64 << 20});
  const auto measured = measure(*bench, plan);
  ASSERT_TRUE(measured) << measured.error().text();
  ASSERT_EQ(measured->recycled.size(), 3u);
  ASSERT_EQ(measured->fresh.size(), 3u);
  for (const auto& sample : measured->fresh) EXPECT_GT(sample.bytes_per_s, 0);
  EXPECT_EQ(reported, bytes_to_write(plan));
  EXPECT_EQ(reported, 2u * 2 * 6 * kChunk);
  EXPECT_TRUE(os::list_directory(directory / "tier")->empty());
}

TEST_P(Tiers, RemoveWhatAKilledCalibrationLeft) {
  const TemporaryDirectory directory(TemporaryDirectory::Place::memory);
  const std::string mine = "calibrate-" + std::to_string(os::process_id()) + "-1";
  for (const std::string& name : {std::string("calibrate-2000000000-1"), mine, std::string("calibrate-x")})
    ASSERT_TRUE(os::make_directories(directory / "tier/" + name));
  ASSERT_TRUE(measure(*tier_bench({GetParam(), directory / "tier", 64 << 20}), {{1}, kChunk, 1, {}}));
  std::vector<std::string> left;
  const auto entries = os::list_directory(directory / "tier").value();
  for (const auto& entry : entries) left.push_back(entry.name);
  EXPECT_THAT(left, testing::UnorderedElementsAre(mine, "calibrate-x")) << "only the one whose process is gone";
}

TEST_P(Tiers, WithoutRoomSayWhatToDo) {
  const TemporaryDirectory directory(TemporaryDirectory::Place::memory);
  const auto bench = tier_bench({GetParam(), directory / "tier", 4 << 20});
  const auto measured = measure(*bench, {{1, 3}, 2 << 20, 1, {}});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, PERDURE_NO_SPACE);
  EXPECT_THAT(measured.error().text(), HasSubstr("measuring 3 writers"));
  EXPECT_THAT(measured.error().remedy, HasSubstr("--max-writers or --chunk-bytes"));
  EXPECT_TRUE(os::list_directory(directory / "tier")->empty()) << "the slots are removed";
}

struct Fault {
  const char* rule;
  base::ErrorCode code;
  const char* remedy;
};
class FailingDevice : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Faults, FailingDevice,
                         testing::Values(Fault{"pwrite:/slot-:EIO:3:1", PERDURE_IO, "the device fails"},
                                         Fault{"pwrite:/slot-:ENOSPC:2", PERDURE_NO_SPACE, "free space"},
                                         Fault{"open:/slot-:EIO", PERDURE_IO, "the device fails"}));

TEST_P(FailingDevice, IsAnErrorAndNoModel) {
  const TemporaryDirectory directory;
  os::FaultRules faults(os::parse_fault_rules(GetParam().rule).value());
  const test_support::InstalledHooks installed(faults);
  const auto bench = tier_bench({"file", directory / "tier", 64 << 20});
  const auto measured = measure(*bench, {{1, 4}, kChunk, 1, {}});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, GetParam().code) << measured.error().text();
  EXPECT_THAT(measured.error().object, HasSubstr("/slot-"));
  EXPECT_THAT(measured.error().remedy, HasSubstr(GetParam().remedy));
}

TEST(Measure, RefusesATierThatThereIsNot) {
  const TemporaryDirectory directory;
  const auto measured = measure(*tier_bench({"tape", directory / "tier", 0}), {{1}, kChunk, 1, {}});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, PERDURE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace perdure::calibration
