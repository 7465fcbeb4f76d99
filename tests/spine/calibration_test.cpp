// Tests calibrations that are nonsense and that an engine cannot tell from good ones: devices at the speed limits, and
// curves that jump. Predictions are then wrong, but no checkpoint, restore or version suffers.
#include <gtest/gtest.h>

#include "calibration/storage.hpp"
#include "faults.hpp"
#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

constexpr double kSlowest = 1e4, kFastest = 1e13;  // limits of believable speeds, bytes/s

struct Lie {
  const char* name;
  double memory_odd, memory_even, file_odd, file_even;  // for odd and even numbers of writers
  const char* policy;
};
void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.name; }

class NonsenseCalibration : public ::testing::Test {
 protected:
  /// Writes a calibration with this speed for the tier on this machine and directory. Returns whether an engine
  /// believes it.
  bool say(const std::string& tier, double odd, double even) const {
    calibration::Calibration lie;
    lie.tier = tier;
    lie.machine = calibration::this_machine();
    lie.device = calibration::device_at(directory_.path()).value();
    lie.chunk_bytes = 128 << 10;
    lie.max_writers = 8;
    lie.repetitions = 1;
    for (unsigned writers = 1; writers <= 8; ++writers)
      lie.recycled.push_back({writers, writers % 2 == 1 ? odd : even});
    const std::string path = calibration::model_path(models(), tier);
    EXPECT_TRUE(calibration::save(lie, path));
    return calibration::load_model(path, tier, directory_.path()).has_value();
  }
  std::string models() const { return directory_.path() + "/models"; }
  TemporaryDirectory directory_;
};

class BelievedCalibration : public NonsenseCalibration, public ::testing::WithParamInterface<Lie> {};
INSTANTIATE_TEST_SUITE_P(
    Every, BelievedCalibration,
    ::testing::Values(Lie{"all_slow", kSlowest, kSlowest, kSlowest, kSlowest, "adaptive"},
                      Lie{"all_fast", kFastest, kFastest, kFastest, kFastest, "adaptive"},
                      Lie{"memory_slow", kSlowest, kSlowest, kFastest, kFastest, "adaptive"},
                      Lie{"file_slow", kFastest, kFastest, kSlowest, kSlowest, "adaptive"},
                      Lie{"jumping", kSlowest, kFastest, kFastest, kSlowest, "adaptive"},
                      Lie{"memory_slow_hybrid_opt", kSlowest, kSlowest, kFastest, kFastest, "hybrid-opt"},
                      Lie{"all_slow_hybrid_opt", kSlowest, kSlowest, kSlowest, kSlowest, "hybrid-opt"}),
    [](const auto& lie) { return std::string(lie.param.name); });

TEST_P(BelievedCalibration, CostsNoCheckpointAndNoVersion) {
  const Lie& lie = GetParam();
  ASSERT_TRUE(say("memory", lie.memory_odd, lie.memory_even));
  ASSERT_TRUE(say("file", lie.file_odd, lie.file_even));
  // Room for four of a checkpoint's ten chunks: every rank has to wait, and to choose again and again.
  Program program{options_in(directory_.path(), "embedded",
                             "tier.order=memory,file;tier.memory.max_bytes=4MiB;tier.file.max_bytes=256KiB;"
                             "checkpoint.timeout=60;placement.models=" +
                                 models() + ";placement.policy=" + lie.policy)};
  program.words = 70000;
  program.restore_at_end = true;
  RunOptions two;
  two.ranks = 2;
  const auto outcome = run_ranks(two, [&](const Rank& rank) { return program.run(rank); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  expect_clean_store(directory_.path() + "/store", "app", {4, 5});
}

// The application gets a report; otherwise nothing changes.
TEST_F(NonsenseCalibration, ThatCannotBeBelievedIsReportedToTheApplication) {
  ASSERT_FALSE(say("memory", 0, 0));
  ASSERT_FALSE(say("file", kFastest * 10, kFastest * 10));
  RunOptions one;
  one.ranks = 1;
  const auto outcome = run_ranks(one, [&](const Rank& rank) {
    Protected app(rank, options_in(directory_.path(), "embedded", "placement.models=" + models()));
    const auto told = app.reports("tier file");
    for (const char* tier : {"memory", "file"}) {
      const std::string begin = std::string("tier ") + tier + ": its speed is assumed until writes were seen";
      RANK_CHECK(count_containing(told, begin) == 1, joined(told));
      RANK_CHECK(count_containing(told, std::string("perdure calibrate --tier ") + tier) == 1, joined(told));
    }
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    RANK_CHECK(app.restores(PERDURE_LATEST, 1) && app.close() == PERDURE_OK, app.error());
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  expect_clean_store(directory_.path() + "/store", "app", {1});
}

}  // namespace
