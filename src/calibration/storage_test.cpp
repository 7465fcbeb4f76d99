#include "calibration/storage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/calibration_testing.hpp"
#include "os/file.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::calibration {
namespace {

using test_support::TemporaryDirectory;
using testing::HasSubstr;

Calibration of_here(const std::string& slots) {
  Calibration calibration = sample_calibration();
  calibration.machine = this_machine();
  calibration.device = device_at(slots).value();
  return calibration;
}

TEST(Storage, AModelThatWasSavedIsLoadedWhereItHolds) {
  const TemporaryDirectory directory;
  const std::string path = model_path(directory / "new/models", "memory");
  const std::string slots = directory / "not/there/yet";
  ASSERT_TRUE(save(of_here(slots), path));
  const auto loaded = load_model(path, "memory", slots);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_TRUE(loaded->model.calibrated());
  EXPECT_EQ(loaded->created_ns, sample_calibration().created_ns);
  EXPECT_EQ(load_model(directory / "none.json", "memory", slots).error().code, PERDURE_NOT_FOUND);
  const auto other = load_model(path, "file", slots);
  ASSERT_FALSE(other) << "a file that was copied";
  EXPECT_EQ(other.error().code, PERDURE_MISMATCH);
}

TEST(Storage, FiguresThatNoDeviceHasAreRefused) {
  const TemporaryDirectory directory;
  const std::string path = model_path(directory.path(), "memory");
  for (const double rate : {1e-300, 1.0, 9e3, 1e14}) {
    Calibration calibration = of_here(directory.path());
    calibration.recycled[3].bytes_per_s = rate;
    ASSERT_TRUE(save(calibration, path));
    const auto loaded = load_model(path, "memory", directory.path());
    ASSERT_FALSE(loaded) << rate;
    EXPECT_EQ(loaded.error().code, PERDURE_CORRUPT);
    EXPECT_THAT(loaded.error().text(), HasSubstr("memory.json: its throughput with 31 writers"));
  }
}

TEST(Storage, RefusesAModelOfAnotherMachineOrDevice) {
  const TemporaryDirectory directory;
  const Calibration good = of_here(directory.path());
  const auto verdict = [&](auto change) {
    Calibration other = good;
    change(other);
    const base::Status status = holds_for(other, this_machine(), device_at(directory.path()).value());
    if (status) return std::string("holds");
    EXPECT_EQ(status.error().code, PERDURE_MISMATCH);
    EXPECT_THAT(status.error().remedy, HasSubstr("perdure calibrate"));
    return status.error().cause;
  };
  EXPECT_EQ(verdict([](Calibration&) {}), "holds");
  EXPECT_EQ(verdict([](Calibration& c) { c.machine.kernel = "7.0"; }), "holds");
  EXPECT_THAT(verdict([](Calibration& c) { c.machine.host = "elsewhere"; }), HasSubstr("another machine: 'elsewhere'"));
  EXPECT_THAT(verdict([](Calibration& c) { c.machine.host = "a\nb\x1b[2J\xc3\xa9"; }), HasSubstr("'a?b?[2J?"));
  EXPECT_THAT(verdict([](Calibration& c) { c.machine.processor = "abacus"; }), HasSubstr("another processor"));
  EXPECT_THAT(verdict([](Calibration& c) { c.device.file_system = "floppy"; }), HasSubstr("another file system"));
  if (good.device.file_system == "tmpfs") return;  // see below
  EXPECT_THAT(verdict([](Calibration& c) { ++c.device.device_id; }), HasSubstr("another device"));
}

TEST(Storage, MemoryFileSystemsAreTheSameWhateverTheirNumber) {
  Calibration calibration = sample_calibration();
  calibration.device.file_system = "tmpfs";
  EXPECT_TRUE(holds_for(calibration, calibration.machine, {"/x", "tmpfs", calibration.device.device_id + 1}));
  calibration.device.file_system = "ext4";
  EXPECT_FALSE(holds_for(calibration, calibration.machine, {"/x", "ext4", calibration.device.device_id + 1}));
}

}  // namespace
}  // namespace perdure::calibration
