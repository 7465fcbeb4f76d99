// Tests which model a tier starts from, and what is reported: the stored calibration if it is valid and holds here,
// else an assumption. The tests run an engine, since a bad calibration must not keep one from starting.
#include "engine/ledger/tier_models.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "calibration/calibration_testing.hpp"
#include "calibration/storage.hpp"
#include "engine/host/engine.hpp"
#include "ipc/channel.hpp"
#include "os/file.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::engine {
namespace {

using testing::HasSubstr;
using testing::Not;

class StoredModels : public testing::Test {
 protected:
  StoredModels() {
    good_.tier = "file";
    good_.machine = calibration::this_machine();
    good_.device = calibration::device_at(directory_.path()).value();
    EXPECT_TRUE(os::make_directories(directory_ / "models"));
  }
  void put(const std::string& text) { ASSERT_TRUE(os::write_file_atomically(path_, base::as_bytes(text))); }
  /// Starts an engine with one file tier and returns what `perdure top` shows of it.
  base::Json start(const std::string& more = {}) {
    const std::string at = directory_.path();
    EXPECT_TRUE(config_.set_all("store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                                    "/file;tier.order=file;chunk_bytes=64KiB;placement.models=" + at + "/models;" +
                                    more,
                                config::Origin::program));
    auto claimed = claim(config_, "here");
    if (!claimed) return {};
    log_ = std::get<Claim>(*claimed).paths.node + "/engine.log";
    auto engine = Engine::start(config_, std::get<Claim>(std::move(*claimed)), false);
    EXPECT_TRUE(engine) << engine.error().text();
    if (!engine) return {};
    engine_ = std::move(*engine);
    auto channel = ipc::Channel::connect(engine_->socket_path()).value();
    ipc::Hello hello;
    hello.fingerprint = config_.fingerprint();
    EXPECT_TRUE(channel.call(hello));
    report_ = channel.call(ipc::NextReport{}).value().text.value_or("");
    return base::decode_cbor(channel.call(ipc::Top{}).value().cbor, "top").value()["tiers"][0];
  }
  void expect_assumed_and_reported(const std::string& why) {
    const base::Json tier = start();
    EXPECT_EQ(tier["model"]["source"], "assumed") << why;
    EXPECT_EQ(tier["predicted_bytes_per_s"], 500e6) << why;
    EXPECT_THAT(report_, HasSubstr(path_));
    EXPECT_THAT(report_, HasSubstr(why));
    EXPECT_THAT(report_, HasSubstr("perdure calibrate --tier file"));
    engine_.reset();
  }
  std::string log() const {
    const auto content = os::read_file(log_, 1 << 20).value();
    return {reinterpret_cast<const char*>(content.data()), content.size()};
  }

  test_support::TemporaryDirectory directory_;
  const std::string path_ = directory_ / "models/file.json";
  calibration::Calibration good_ = calibration::sample_calibration();
  config::Config config_;
  std::unique_ptr<Engine> engine_;
  std::string report_, log_;
};

TEST_F(StoredModels, ACalibrationOfThisMachineAndDeviceIsUsed) {
  put(calibration::encode(good_));
  const base::Json tier = start();
  EXPECT_EQ(tier["model"]["source"], "calibrated");
  EXPECT_EQ(tier["model"]["calibrated_ns"], good_.created_ns);
  EXPECT_EQ(tier["model"]["file"], path_);
  EXPECT_EQ(tier["predicted_bytes_per_s"], good_.recycled[0].bytes_per_s);
  EXPECT_EQ(tier["observations"], 0);
  EXPECT_EQ(report_, "");
}

TEST_F(StoredModels, AMissingOneIsNotedInTheLogAndNobodyIsTold) {
  const base::Json tier = start();
  EXPECT_EQ(tier["model"]["source"], "assumed");
  EXPECT_EQ(tier["model"]["why"], "not calibrated");
  EXPECT_EQ(report_, "");
  EXPECT_THAT(log(), HasSubstr(path_ + "; perdure calibrate --tier file"));
}

TEST_F(StoredModels, NonsenseIsReportedAndTheEngineStarts) {
  for (const std::string& text : {std::string(), std::string("{"), std::string("[1]"), std::string(2 << 20, '['),
                                  std::string(1 << 19, '{'), std::string("{\"format\":1}"), std::string(5, '\0')}) {
    put(text);
    expect_assumed_and_reported("cannot be used");
  }
  put("{\"format\":99}");
  expect_assumed_and_reported("newer Perdure");
}

TEST_F(StoredModels, FiguresThatAreNoThroughputAreReported) {
  const std::string text = calibration::encode(good_);
  const std::string figure = "1010000000.0";  // of one writer
  ASSERT_NE(text.find(figure), std::string::npos) << text;
  for (const char* bad : {"0", "-1.0", "null", "NaN", "1e999", "\"fast\"", "1e-300", "1.0", "1e14", "1e15"}) {
    std::string changed = text;
    put(changed.replace(changed.rfind(figure), figure.size(), bad));
    SCOPED_TRACE(bad);
    expect_assumed_and_reported("cannot be used");
  }
}

TEST_F(StoredModels, OneOfAnotherMachineOrDeviceOrTierIsReported) {
  auto other = good_;
  other.machine.host = "elsewhere";
  put(calibration::encode(other));
  expect_assumed_and_reported("another machine: 'elsewhere'");
  other = good_;
  other.device.file_system = "floppy";
  put(calibration::encode(other));
  expect_assumed_and_reported("another file system");
  other = good_;
  other.tier = "memory";
  put(calibration::encode(other));
  expect_assumed_and_reported("another tier");
}

TEST_F(StoredModels, WhatIsNoFileIsReportedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_assumed_and_reported("cannot be used");
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::symlink("/dev/zero", path_.c_str()), 0);
  expect_assumed_and_reported("cannot be used");
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::mkdir(path_.c_str(), 0700), 0);
  expect_assumed_and_reported("cannot be used");
}

TEST_F(StoredModels, EmulatedTiersUseTheirDescription) {
  put(calibration::encode(good_));
  ASSERT_TRUE(os::write_file_atomically(
      directory_ / "node.toml",
      base::as_bytes(std::string("tiers = [\"file\"]\n[tier.file]\nstreams = [1]\nbytes_per_s = [\"3GB\"]\n"
                                 "[store]\nstreams = [1]\nbytes_per_s = [\"1GB\"]\n"))));
  const base::Json tier = start("emulate.description=" + directory_.path() + "/node.toml");
  EXPECT_EQ(tier["model"]["source"], "emulated");
  EXPECT_NEAR(tier["predicted_bytes_per_s"].get<double>(), 3e9, 1);
  EXPECT_EQ(report_, "");
}

}  // namespace
}  // namespace perdure::engine
