#include "calibration/storage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/sample_calibration.hpp"
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

TEST(ModelDirectory, IsBesideTheConfigurationFile) {
  const TemporaryDirectory directory;
  EXPECT_EQ(model_directory({{"PERDURE_CONFIG", "/etc/p.toml"}}, "/x").value(), "/etc/perdure-models");
  EXPECT_EQ(model_directory({{"PERDURE_CONFIG", "sub/p.toml"}}, "/x").value(), "/x/sub/perdure-models");
  ASSERT_TRUE(os::write_file_atomically(directory / "perdure.toml", {}));
  EXPECT_EQ(model_directory({{"HOME", "/home/me"}}, directory.path()).value(), directory / "perdure-models");
}

TEST(ModelDirectory, IsTheUsersWhereThereIsNoConfigurationFile) {
  const TemporaryDirectory empty;
  EXPECT_EQ(model_directory({{"HOME", "/home/me"}}, empty.path()).value(), "/home/me/.config/perdure/perdure-models");
  EXPECT_EQ(model_directory({{"HOME", "/home/me"}, {"XDG_CONFIG_HOME", "/c"}}, empty.path()).value(),
            "/c/perdure/perdure-models");
  const auto nowhere = model_directory({}, empty.path());
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().remedy, HasSubstr("PERDURE_CONFIG"));
}

TEST(Storage, AModelThatWasSavedIsLoadedWhereItHolds) {
  const TemporaryDirectory directory;
  const std::string path = model_path(directory / "new/models", "memory");
  const std::string slots = directory / "not/there/yet";
  ASSERT_TRUE(save(of_here(slots), path));
  const auto model = load_model(path, slots);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_TRUE(model->calibrated());
  EXPECT_EQ(load_model(directory / "none.json", slots).error().code, PERDURE_NOT_FOUND);
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
