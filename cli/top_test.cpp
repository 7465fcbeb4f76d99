// perdure top against an engine that lives in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/sample_calibration.hpp"
#include "calibration/storage.hpp"
#include "cli/testing.hpp"
#include "engine/engine.hpp"
#include "ipc/address_codec.hpp"
#include "ipc/channel.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

class Top : public testing::Test {
 protected:
  void start(const std::string& more = {}) {
    const std::string at = directory_.path();
    ASSERT_TRUE(config_.set_all("store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                                    "/file;tier.memory.path=" + at + "/memory;placement.models=" + at +
                                    "/models;tier.order=file;tier.file.max_bytes=128KiB;chunk_bytes=64KiB;" + more,
                                config::Origin::program));
    auto claimed = engine::claim(config_, "here");
    ASSERT_TRUE(claimed);
    engine_ = engine::Engine::start(config_, std::get<engine::Claim>(std::move(*claimed)), false).value();
    rank_ = ipc::Channel::connect(engine_->socket_path()).value();
    ipc::Hello hello;
    hello.fingerprint = config_.fingerprint();
    hello.rank = 5;
    ASSERT_TRUE(rank_.call(hello));
  }
  ipc::Grant request(std::uint64_t version) const { return {{"app", version, {version, 1}}, 64 * 1024, 0, {}, {}}; }
  test_support::TemporaryDirectory directory_;
  Variable node_{"PERDURE_NODE_PATH", directory_.path() + "/node"};
  Variable file_{"PERDURE_TIER_FILE_PATH", directory_.path() + "/file"};
  Variable memory_{"PERDURE_TIER_MEMORY_PATH", directory_.path() + "/memory"};
  config::Config config_;
  std::unique_ptr<engine::Engine> engine_;
  ipc::Channel rank_;
};

TEST_F(Top, SaysThatNoEngineRuns) {
  EXPECT_THAT(run_verb({"top", "--once"}).out, HasSubstr("no engine runs here"));
  const Ran ran = run_verb({"top", "--once", "--json"});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_EQ(ran.json()["engines"], base::Json::array());
}

TEST_F(Top, ShowsTiersWhoWaitsAndWhy) {
  start("placement.policy=adaptive");
  ASSERT_TRUE(rank_.call(request(1)));
  ASSERT_TRUE(rank_.call(request(1)));
  const auto waits = rank_.post(request(2));
  ASSERT_TRUE(waits);
  ASSERT_TRUE(rank_.call(ipc::Progress{})) << "so that it has arrived";
  const base::Json json = run_verb({"top", "--once", "--json"}).json();
  ASSERT_EQ(json["engines"].size(), 1u);
  const base::Json& engine = json["engines"][0];
  EXPECT_EQ(engine["policy"], "adaptive");
  EXPECT_EQ(engine["clients"], 1);
  EXPECT_EQ(engine["tiers"][0]["name"], "file");
  EXPECT_EQ(engine["tiers"][0]["slots"], 2);
  EXPECT_EQ(engine["tiers"][0]["free_slots"], 0);
  EXPECT_EQ(engine["tiers"][0]["used_slots"], 2);
  EXPECT_EQ(engine["tiers"][0]["chunks_placed"], 2) << "waiting is no placement";
  EXPECT_EQ(engine["tiers"][0]["writers"], 1);
  EXPECT_EQ(engine["tiers"][0]["model"]["source"], "assumed");
  EXPECT_EQ(engine["waiting"], 1);
  EXPECT_EQ(engine["queue"][0]["rank"], 5);
  EXPECT_EQ(engine["queue"][0]["for"], "grant");
  EXPECT_EQ(engine["reasons"]["fastest"], 2);
  EXPECT_EQ(engine["decisions"].back()["rank"], 5);
  EXPECT_EQ(engine["decisions"].back()["tier"], "");
  const std::string text = run_verb({"top", "--once"}).out;
  EXPECT_THAT(text, HasSubstr("policy adaptive"));
  EXPECT_THAT(text, HasSubstr("waiting: rank 5 for grant"));
  EXPECT_THAT(text, HasSubstr("app version 2, rank 5: no slot: "));
}

TEST_F(Top, SaysWhereEachModelComesFrom) {
  calibration::Calibration model = calibration::sample_calibration();
  model.tier = "file";
  model.machine = calibration::this_machine();
  model.device = calibration::device_at(directory_.path()).value();
  ASSERT_TRUE(calibration::save(model, directory_ / "models/file.json"));
  start();
  EXPECT_THAT(run_verb({"top", "--once"}).out, HasSubstr("calibrated 2023-11-14\n"));
  const auto granted = rank_.call(request(1)).value();
  const auto slot = ipc::address_from_json(granted["slot"]).value();
  const ipc::Written written{request(1).id, 5, 0, slot.tier, slot.slot, 64 * 1024, {}, true};
  ASSERT_TRUE(rank_.call(written));
  EXPECT_THAT(run_verb({"top", "--once"}).out, HasSubstr("calibrated 2023-11-14, refined by 1 write\n"));
}

TEST_F(Top, LookingInChangesNothing) {
  start();
  ASSERT_TRUE(rank_.call(request(1)));
  auto first = run_verb({"top", "--once", "--json"}).json(), second = run_verb({"top", "--once", "--json"}).json();
  EXPECT_EQ(first, second);
}

TEST_F(Top, AnEngineThatDoesNotAnswerIsShownWithTheReason) {
  start();
  ASSERT_TRUE(os::remove_file(engine_->socket_path()));
  const Ran ran = run_verb({"top", "--once"});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.out, HasSubstr(directory_.path() + "/node/"));
  EXPECT_TRUE(run_verb({"top", "--once", "--json"}).json()["engines"][0].contains("error"));
}

TEST_F(Top, AnIntervalThatIsNoneIsWrongUsage) {
  EXPECT_EQ(run_verb({"top", "--once", "--interval", "0"}).status, kUsage);
}

}  // namespace
}  // namespace perdure::cli
