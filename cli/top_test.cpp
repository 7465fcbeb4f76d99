// perdure top asks an engine that lives in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/json.hpp"
#include "calibration/calibration_testing.hpp"
#include "calibration/storage.hpp"
#include "cli/engine_text.hpp"
#include "cli/verb_testing.hpp"
#include "engine/host/engine.hpp"
#include "ipc/channel.hpp"
#include "os/affinity.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  /// Writes one more chunk of zeros, which preallocated slots are, for rank 0 of a capture; returns where it is.
  segment::ChunkEntry write(std::uint64_t version, std::uint32_t chunk) {
    const auto granted = rank_.call(request(version)).value();
    const auto& slot = granted.slot;
    const auto hash = base::hash128(std::vector<std::byte>(64 * 1024));
    EXPECT_TRUE(rank_.call(ipc::AwaitWritten{{request(version).id, 0, chunk, slot.tier, slot.slot, 64 * 1024, hash}}));
    return {slot.slot, 64 * 1024, hash, slot.tier};
  }
  static segment::Piece piece(std::uint32_t chunks) {
    segment::Piece piece{0, 64 * 1024, {{0, 1, 64 * 1024 * chunks}}, {}};
    for (std::uint32_t c = 0; c < chunks; ++c) piece.chunks.push_back({0, 64 * 1024, {}, 0});
    return piece;
  }
  /// Starts an engine whose transfers to its tier or to its store take more than a day.
  void start_emulated(const std::string& tier_rate, const std::string& store_rate) {
    std::ofstream(directory_ / "slow.toml")
        << "tiers = [\"file\"]\n[tier.file]\nstreams = [1]\nbytes_per_s = [\"" << tier_rate
        << "\"]\n[store]\nstreams = [1]\nbytes_per_s = [\"" << store_rate << "\"]\n";
    start("emulate.description=" + directory_ / "slow.toml");
  }
  static base::Json engine() { return run_verb({"top", "--once", "--json"}).json()["engines"][0]; }
  test_support::TemporaryDirectory directory_;
  Variable node_{"PERDURE_NODE_PATH", directory_.path() + "/node"};
  Variable file_{"PERDURE_TIER_FILE_PATH", directory_.path() + "/file"};
  Variable memory_{"PERDURE_TIER_MEMORY_PATH", directory_.path() + "/memory"};
  config::Config config_;
  std::unique_ptr<engine::Engine> engine_;
  ipc::Channel rank_;
};

TEST_F(Top, ShowsTheStepsOfThePipelineInTheirOrder) {
  start("pipeline=flush, replicate, retire");
  const auto json = engine();
  const auto& steps = json["pipeline"];
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0]["name"], "flush");
  EXPECT_EQ(steps[0]["needs"], "process");
  EXPECT_EQ(steps[0]["gives"], "store");
  EXPECT_EQ(steps[0]["state"], "waiting");
  EXPECT_EQ(steps[0]["done"], 0);
  EXPECT_EQ(steps[1]["state"], "off") << "there is no redundancy";
  EXPECT_TRUE(steps[2]["gives"].is_null());
  EXPECT_THAT(run_verb({"top", "--once"}).out,
              HasSubstr("pipeline: flush (waiting, 0 done), replicate (off), retire (waiting, 0 done)"));
}

TEST_F(Top, ShowsTheNewestVersionOfANameAtEachLevel) {
  start_emulated("1TB", "1");
  for (const std::uint64_t version : {1, 2}) {
    auto staged = piece(1);
    staged.chunks[0] = write(version, 0);
    ASSERT_TRUE(rank_.call(ipc::Stage{request(version).id, 1, staged}));
    ASSERT_TRUE(rank_.call(ipc::Commit{request(version).id, {{0, 1, {0}}}}));
  }
  const auto names = engine()["names"];
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0]["name"], "app");
  EXPECT_EQ(names[0]["process"]["version"], 2);
  EXPECT_FALSE(names[0].contains("store")) << "nothing has reached it";
  EXPECT_THAT(run_verb({"top", "--once"}).out, HasSubstr("newest: app: process 2 ("));
}

TEST(TopOnAScreen, FitsTheWindow) {
  EXPECT_EQ(fitted("one\ntwo\n", 80, 24), "one\ntwo\n");
  EXPECT_EQ(fitted("0123456789\nx\n", 8, 24), "0123456>\nx\n");
  EXPECT_EQ(fitted("1\n2\n3\n4\n", 80, 3), "1\n2\n2 more lines: perdure top --once");
  EXPECT_EQ(fitted("1\n2\n3\n", 80, 3), "1\n2\n3\n");
  EXPECT_EQ(fitted("", 80, 3), "");
}

TEST(TopOnAScreen, SaysAges) {
  EXPECT_EQ(age_text(3.2), "3 s");
  EXPECT_EQ(age_text(600), "10 min");
  EXPECT_EQ(age_text(3 * 3600), "3 h");
  EXPECT_EQ(age_text(100 * 3600), "4 days");
}

TEST_F(Top, SaysThatNoEngineRuns) {
  const std::string told = run_verb({"top", "--once"}).out;
  EXPECT_THAT(told, HasSubstr("no engine runs here: none lives in " + directory_ / "node" + ", " +
                              directory_ / "memory" + " and " + directory_ / "file"));
  EXPECT_THAT(told, HasSubstr("--set node.path=PATH"));
  const Ran ran = run_verb({"top", "--once", "--json"});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_EQ(ran.json()["engines"], base::Json::array());
  EXPECT_EQ(ran.json()["looked_in"].size(), 3u);
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
  EXPECT_EQ(engine["queue"][0]["reason"], engine["decisions"].back()["reason"]);
  EXPECT_EQ(engine["reasons"]["fastest"], 2);
  EXPECT_EQ(engine["decisions"].back()["rank"], 5);
  EXPECT_EQ(engine["decisions"].back()["tier"], "");
  const std::string text = run_verb({"top", "--once"}).out;
  EXPECT_THAT(text, HasSubstr(" on processors " + os::own_cpus().text()));
  EXPECT_THAT(text, HasSubstr("policy adaptive"));
  EXPECT_THAT(text, HasSubstr("waiting: rank 5 for grant"));
  EXPECT_THAT(text, HasSubstr("app version 2, rank 5: no slot: "));
}

TEST_F(Top, ShowsCapturesThatAreFlushedWhileTheyRunAndWhatMoved) {
  start();
  ASSERT_TRUE(rank_.tell(ipc::Begin{request(1).id, 1, piece(5), {{0, 1, {0}}}}));
  EXPECT_EQ(engine()["captures"][0]["chunks_written"], 0);
  for (std::uint32_t c = 0; c < 4; ++c) write(1, c);  // in two slots
  const base::Json json = engine();
  ASSERT_EQ(json["captures"].size(), 1u);
  const base::Json& capture = json["captures"][0];
  EXPECT_EQ(capture["name"], "app");
  EXPECT_EQ(capture["version"], 1);
  EXPECT_EQ(capture["bytes"], 5 * 64 * 1024);
  EXPECT_EQ(capture["all_announced"], true);
  EXPECT_EQ(capture["flushed_meanwhile"], true);
  EXPECT_EQ(capture["chunks"], 5);
  EXPECT_EQ(capture["chunks_written"], 4);
  EXPECT_EQ(capture["chunks_moved"], 2) << "no more than had to";
  EXPECT_GE(capture["chunks_flushed"], 2);
  EXPECT_EQ(json["flush"]["chunks_moved"], 2);
  const std::string text = run_verb({"top", "--once"}).out;
  EXPECT_THAT(text, HasSubstr("capture: app version 1, 320.0 KiB, 4 of 5 chunks written; flushed meanwhile: "));
  EXPECT_THAT(text, HasSubstr(" chunks, 2 of them moved out of their slots\n"));
}

TEST_F(Top, ACaptureThatFitsIsNotFlushedMeanwhile) {
  start();
  ASSERT_TRUE(rank_.tell(ipc::Begin{request(1).id, 1, piece(2), {{0, 1, {0}}}}));
  auto staged = piece(2);
  staged.chunks[0] = write(1, 0);
  EXPECT_EQ(engine()["captures"][0]["flushed_meanwhile"], false);
  EXPECT_THAT(run_verb({"top", "--once"}).out, HasSubstr("1 of 2 chunks written\n"));
  staged.chunks[1] = write(1, 1);
  ASSERT_TRUE(rank_.call(ipc::Stage{request(1).id, 1, staged}));
  EXPECT_THAT(run_verb({"top", "--once"}).out, Not(HasSubstr("pending: "))) << "it is shown as a capture";
  ASSERT_TRUE(rank_.call(ipc::Commit{request(1).id, {{0, 1, {0}}}}));
  EXPECT_EQ(engine()["captures"], base::Json::array());
}

TEST_F(Top, SaysOfEachWaitForTheStoreWhatItWaitsFor) {
  start_emulated("1TB", "1");
  auto staged = piece(1);
  staged.chunks[0] = write(1, 0);
  ASSERT_TRUE(rank_.call(ipc::Stage{request(1).id, 1, staged}));
  ASSERT_TRUE(rank_.call(ipc::Commit{request(1).id, {{0, 1, {0}}}}));
  ASSERT_TRUE(rank_.post(ipc::WaitStored{request(1).id, 0}));
  ASSERT_TRUE(rank_.post(ipc::Drain{0}));
  ASSERT_TRUE(rank_.call(request(2)));
  ASSERT_TRUE(rank_.post(request(3)));
  ASSERT_TRUE(rank_.post(request(3)));
  ASSERT_TRUE(rank_.call(ipc::Progress{}));
  const base::Json queue = engine()["queue"];
  ASSERT_EQ(queue.size(), 4u);
  EXPECT_EQ(queue[0]["reason"], "flush");
  EXPECT_THAT(queue[0]["text"].get<std::string>(), HasSubstr("app version 1 is not stored: "));
  EXPECT_EQ(queue[1]["reason"], "flush");
  EXPECT_EQ(queue[1]["text"], "1 version is not stored");
  EXPECT_EQ(queue[2]["reason"], "wait_full");
  EXPECT_EQ(queue[3]["reason"], "behind");
  EXPECT_EQ(queue[3]["text"], "behind rank 5");
  EXPECT_THAT(run_verb({"top", "--once"}).out, HasSubstr(" s: behind rank 5\n"));
}

TEST_F(Top, SaysThatAWriteWaitsForAnEmulatedDevice) {
  start_emulated("1", "1TB");
  const auto slot = rank_.call(request(1)).value().slot;
  ASSERT_TRUE(rank_.post(ipc::AwaitWritten{{request(1).id, 0, 0, slot.tier, slot.slot, 64 * 1024, {}}}));
  ASSERT_TRUE(rank_.call(ipc::Progress{}));
  const base::Json queue = engine()["queue"];
  ASSERT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue[0]["reason"], "emulated_device");
  EXPECT_THAT(queue[0]["text"].get<std::string>(), HasSubstr("tier file"));
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
  const auto& slot = granted.slot;
  ASSERT_TRUE(rank_.call(ipc::AwaitWritten{{request(1).id, 5, 0, slot.tier, slot.slot, 64 * 1024, {}}}));
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
