// perdure calibrate measures tiers and stores their models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verb_testing.hpp"
#include "os/fault_rules.hpp"
#include "os/file.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::cli {
namespace {

using test_support::TemporaryDirectory;
using testing::HasSubstr;
using testing::Not;

std::string description(const char* name) { return std::string(PERDURE_DEVICES) + "/" + name + ".toml"; }

/// Uses a configuration of its own, so that tiers and models are in a directory of the test.
class Calibrate : public testing::Test {
 protected:
  Ran run(std::vector<std::string> options) {
    options.insert(options.begin(), {"calibrate", "--chunk-bytes", "64KiB", "--max-writers", "5"});
    return run_verb(options);
  }
  std::string text_of(const std::string& path) {
    const auto content = os::read_file(path, 1 << 20);
    return content ? std::string(reinterpret_cast<const char*>(content->data()), content->size()) : std::string();
  }

  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
  bool written_ = os::write_file_atomically(directory_ / "perdure.toml", {}).has_value();
  Variable configuration_{"PERDURE_CONFIG", directory_ / "perdure.toml"};
  Variable node_{"PERDURE_NODE_PATH", directory_ / "node"};
  Variable files_{"PERDURE_TIER_FILE_PATH", directory_ / "files"};
};

TEST_F(Calibrate, StoresModelAndPlotOfEveryTierBesideTheConfiguration) {
  const Ran ran = run({"--repetitions", "1", "--json"});
  ASSERT_EQ(ran.status, kGood) << ran.err;
  const auto tiers = ran.json()["tiers"];
  ASSERT_EQ(tiers.size(), 2u);
  for (const auto& tier : tiers) {
    const std::string name = tier["tier"];
    EXPECT_EQ(tier["model_file"], directory_ / "perdure-models/" + name + ".json");
    EXPECT_THAT(text_of(tier["model_file"]), HasSubstr("\"host\""));
    EXPECT_THAT(text_of(tier["plot_file"]), HasSubstr("<svg"));
    EXPECT_EQ(tier["recycled"].size(), 5u);
    EXPECT_EQ(tier["fresh"].size(), 5u);
    EXPECT_EQ(tier["predicted_bytes_per_s"].size(), 5u);
  }
  EXPECT_EQ(tiers[0]["tier"], "memory");
  EXPECT_TRUE(os::list_directory(directory_ / "files")->empty()) << "nothing but the models is left";
}

TEST_F(Calibrate, TheOrderOfTiersMayHaveBlanks) {
  const Ran ran = run({"--repetitions", "1", "--json", "--set", "tier.order = file,  memory"});
  ASSERT_EQ(ran.status, kGood) << ran.err;
  const auto tiers = base::Json::parse(ran.out)["tiers"];
  ASSERT_EQ(tiers.size(), 2u);
  EXPECT_EQ(tiers[0]["tier"], "file");
  EXPECT_EQ(tiers[1]["tier"], "memory");
}

TEST_F(Calibrate, ShowsTheCurveAsATable) {
  const Ran ran = run({"--repetitions", "1", "--tier", "file"});
  ASSERT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("WRITERS  RECYCLED  FRESH"));
  EXPECT_THAT(ran.out, HasSubstr("tier file: " + directory_ / "files"));
  EXPECT_THAT(ran.out, HasSubstr("model: " + directory_ / "perdure-models/file.json"));
  EXPECT_FALSE(os::exists(directory_ / "perdure-models/memory.json").value());
}

TEST_F(Calibrate, AFailingDeviceLeavesNoModel) {
  os::FaultRules faults(os::parse_fault_rules("pwrite:/slot-:EIO").value());
  const test_support::InstalledHooks installed(faults);
  const Ran ran = run({"--tier", "file"});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("the device fails"));
  EXPECT_FALSE(os::exists(directory_ / "perdure-models/file.json").value());
}

TEST_F(Calibrate, EmulatedDevicesAreCheckedInVirtualTimeAndNotStored) {
  for (const char* name : {"veloc-node", "modern-node", "laptop"}) {
    const Ran ran = run_verb({"calibrate", "--emulated", description(name), "--check", "--repetitions", "5", "--json"});
    ASSERT_EQ(ran.status, kGood) << name << ran.out << ran.err;
    const auto answer = ran.json();
    for (const auto& tier : answer["tiers"]) {
      EXPECT_LE(tier["recycled"].size(), 26u);
      EXPECT_EQ(tier["measured"].size(), 256u);
      EXPECT_LT(tier["accuracy"]["mean_error"], 0.05) << name << tier["tier"];
      EXPECT_LT(tier["accuracy"]["worst_error"], 0.15) << name << tier["tier"];
      EXPECT_EQ(tier["repeatability"]["compared"], tier["recycled"].size());
      EXPECT_EQ(tier["model_file"], "");
    }
  }
  EXPECT_FALSE(os::exists(directory_ / "perdure-models").value());
}

TEST_F(Calibrate, AModelThatIsNotGoodEnoughIsABadAnswer) {
  const Ran ran = run_verb({"calibrate", "--emulated", description("modern-node"), "--tier", "nvme", "--check",
                            "--spacing", "equal", "--max-writers", "128"});
  EXPECT_EQ(ran.status, kBad) << "equal steps of ten do not see what happens below ten streams";
  EXPECT_THAT(ran.out, HasSubstr("NOT good"));
  EXPECT_THAT(ran.out, HasSubstr("repeatability: the 13 counts"));
  EXPECT_THAT(ran.out, Not(HasSubstr("does not repeat itself"))) << "it is the model that is bad";
}

TEST_F(Calibrate, StoresEmulatedModelsWhereOneSays) {
  const std::string models = directory_ / "emulated";
  const Ran ran = run_verb({"calibrate", "--emulated", description("laptop"), "--tier", "ssd", "--directory", models});
  ASSERT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("in virtual time"));
  EXPECT_TRUE(os::exists(models + "/ssd.json").value());
  EXPECT_TRUE(os::exists(models + "/ssd.svg").value());
}

TEST_F(Calibrate, RefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> bad{{"--tier", "tape"},      {"--max-writers", "0"},
                                                  {"--repetitions", "0"},  {"--chunk-bytes", "0"},
                                                  {"--spacing", "random"}, {"--seed", "-1"}};
  for (const auto& options : bad) {
    std::vector<std::string> arguments{"calibrate"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run_verb(arguments).status, kUsage) << options[0];
  }
  const Ran unknown = run_verb({"calibrate", "--tier", "tape"});
  EXPECT_THAT(unknown.err, HasSubstr("there are memory, file"));
  EXPECT_EQ(run_verb({"calibrate", "--emulated", "/nonexistent.toml"}).status, kCannot);
}

}  // namespace
}  // namespace perdure::cli
