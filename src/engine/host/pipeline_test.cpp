// Tests steps that are added to the pipeline, in an engine as a leader rank hosts it.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "engine/host/engine_testing.hpp"
#include "engine/host/noted_step_testing.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kNotedChunk = 64 * base::KiB;

class EngineWithSteps : public EngineFixture {
 protected:
  void SetUp() override { Notes::all().forget(); }
  base::Status start_with(const std::string& pipeline, const std::string& more = "") {
    rank_ = {};
    engine_.reset();
    PERDURE_CHECK(start("pipeline=" + pipeline +
                        ";tier.order=file;chunk_bytes=64KiB;tier.file.max_bytes=4MiB;flush.retry_initial=0.001;"
                        "flush.retry_max=0.01;" +
                        more));
    rank_ = ipc::Channel::connect(engine_->socket_path()).value();
    auto greeting = hello();
    greeting.first_node = true;
    return rank_.call(greeting) ? base::Status() : base::fail(PERDURE_INTERNAL, "test", "not greeted");
  }
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version, 1}}; }
  void commit(std::uint64_t version) {
    const auto reply = rank_.call(ipc::Grant{id(version), kNotedChunk, 0, {}, {}});
    ASSERT_TRUE(reply) << reply.error().text();
    const auto hash = base::hash128(std::vector<std::byte>(kNotedChunk));  // preallocated slots are zeros
    ASSERT_TRUE(
        rank_.call(ipc::AwaitWritten{{id(version), 0, 0, reply->slot.tier, reply->slot.slot, kNotedChunk, hash}}));
    const segment::Piece piece{
        0, kNotedChunk, {{0, 1, kNotedChunk}}, {{reply->slot.slot, kNotedChunk, hash, reply->slot.tier}}};
    ASSERT_TRUE(rank_.call(ipc::Stage{id(version), 1, piece}));
    ASSERT_TRUE(rank_.call(ipc::Commit{id(version), {{0, 1, {0}}}}));
  }
  void await_stored(std::uint64_t version) {
    const auto reply = rank_.call(ipc::WaitStored{id(version), 0});
    ASSERT_TRUE(reply && reply->held);
  }
  base::Json step(std::size_t at) {
    const auto view = rank_.call(ipc::Top{});
    return base::decode_cbor(view.value().cbor, "top").value()["pipeline"][at];
  }
  std::vector<std::string> reports() {
    std::vector<std::string> all;
    for (;;) {
      const auto report = rank_.call(ipc::NextReport{});
      if (!report || !report->text) return all;
      all.push_back(*report->text);
    }
  }
  static Notes& notes() { return Notes::all(); }
  ipc::Channel rank_;
};

TEST_F(EngineWithSteps, TheLastStepIsToldOfEveryVersionThatIsStored) {
  // A version that retention would remove at once need not be stored.
  ASSERT_TRUE(start_with("replicate, flush, retire, note-it", "retention.keep_last=9;"));
  for (std::uint64_t version : {1, 2, 3}) commit(version);
  ASSERT_TRUE(rank_.call(ipc::Drain{0}));
  EXPECT_THAT(notes().versions_of("note-it"), ElementsAre(1, 2, 3)) << "a drain waits for it";
  for (const auto& note : notes().notes()) EXPECT_EQ(note.version.level, Level::store);
  const auto shown = step(3);
  EXPECT_EQ(shown["name"], "note-it");
  EXPECT_EQ(shown["needs"], "store");
  EXPECT_EQ(shown["done"], 3);
  EXPECT_EQ(step(1)["done"], 3);
  EXPECT_EQ(step(0)["state"], "off");
}

TEST_F(EngineWithSteps, AStepBeforeTheFlushTakesVersionsThatTheStoreDoesNotTake) {
  ASSERT_TRUE(start_with("replicate, look-first, send-copies, flush, retire"));
  {
    os::FaultRules faults(*os::parse_fault_rules("pwrite:/store:EIO"));
    test_support::InstalledHooks installed(faults);
    commit(1);
    ASSERT_TRUE(notes().await(1));
    EXPECT_THAT(notes().versions_of("look-first"), ElementsAre(1));
    EXPECT_THAT(notes().versions_of("send-copies"), ElementsAre())
        << "without redundancy it has level node at the store";
    engine_->stop();  // only a flush uses the hooks
  }
}

TEST_F(EngineWithSteps, WithoutRedundancyTheStoreStandsForLevelNode) {
  ASSERT_TRUE(start_with("replicate, look-first, send-copies, flush, retire"));
  commit(1);
  ASSERT_TRUE(rank_.call(ipc::Drain{0}));
  ASSERT_TRUE(notes().await(2));
  EXPECT_EQ(notes().notes()[0].step, "look-first");
  EXPECT_EQ(notes().notes()[0].version.level, Level::process);
  EXPECT_EQ(notes().notes()[1].step, "send-copies");
  EXPECT_EQ(notes().notes()[1].version.level, Level::store);
}

TEST_F(EngineWithSteps, AStepThatBlocksKeepsNoVersionFromTheStoreAndEndsWithTheEngine) {
  ASSERT_TRUE(start_with("look-first, flush, note-it, retire"));
  notes().blocks = true;
  for (std::uint64_t version : {1, 2, 3}) {
    commit(version);
    await_stored(version);
  }
  ASSERT_TRUE(notes().await(4));
  EXPECT_THAT(notes().versions_of("look-first"), ElementsAre(1, 2, 3));
  EXPECT_THAT(notes().versions_of("note-it"), ElementsAre(1));
  EXPECT_TRUE(test_support::eventually("two versions wait for the step", [this] { return step(2)["waiting"] == 2; }));
  EXPECT_EQ(step(2)["state"], "running");
  EXPECT_EQ(step(3)["done"], 0) << "what is before retirement holds it up";
  engine_->stop();
  EXPECT_THAT(notes().versions_of("note-it"), ElementsAre(1));
}

// Blocks the first thread that syncs a catalog under compaction. The flush that stored a version compacts before it
// reports that.
class HoldCompaction : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    if (std::string_view(operation.call) != "fsync" || !operation.path.ends_with("/catalog.new")) return 0;
    if (reached.exchange(true)) return 0;
    EXPECT_TRUE(test_support::eventually("the test lets go of the compaction", [this] { return go.load(); }));
    return 0;
  }
  std::atomic<bool> reached = false, go = false;
};

TEST_F(EngineWithSteps, AVersionThatIsStoredAndRetiredBeforeAnybodySaysSoIsToldAllTheSame) {
  ASSERT_TRUE(start_with("flush, note-it", "catalog.compact_above=1KiB;"));
  HoldCompaction hold;
  test_support::InstalledHooks installed(hold);
  std::uint64_t version = 0;
  while (!hold.reached && version < 5000) {
    commit(++version);
    ASSERT_TRUE(test_support::eventually("the version is told, or a compaction is held", [&] {
      return hold.reached || notes().versions_of("note-it").size() == version;
    }));
  }
  ASSERT_TRUE(hold.reached);
  ASSERT_TRUE(rank_.call(ipc::Retire{"app", version}));
  commit(version + 1);  // looks for versions that are gone
  hold.go = true;
  EXPECT_TRUE(test_support::eventually("all versions are told",
                                       [&] { return notes().versions_of("note-it").size() == version + 1; }));
  EXPECT_THAT(notes().versions_of("note-it"), testing::Contains(version));
}

TEST_F(EngineWithSteps, AStepThatFailsIsReportedOnceAndVersionsGoOn) {
  ASSERT_TRUE(start_with("replicate, flush, note-it, retire", "retention.keep_last=1;"));
  notes().fails = true;
  for (std::uint64_t version : {1, 2, 3}) commit(version);
  ASSERT_TRUE(rank_.call(ipc::Drain{0}));
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("step note-it of the pipeline failed for app version")));
  EXPECT_EQ(step(2)["state"], "failed");
  EXPECT_THAT(step(2)["reason"].get<std::string>(), HasSubstr("nobody takes it"));
  EXPECT_EQ(step(2)["done"], 0);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "store/app/1")) << "retired";
  EXPECT_TRUE(std::filesystem::exists(directory_ / "store/app/3"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "store/app/2"));
  notes().fails = false;
  commit(4);
  ASSERT_TRUE(rank_.call(ipc::Drain{0}));
  EXPECT_EQ(step(2)["state"], "waiting");
  EXPECT_EQ(step(2)["done"], 1);
}

TEST_F(EngineWithSteps, WithoutRetirementTheStoreKeepsEverything) {
  ASSERT_TRUE(start_with("flush", "retention.keep_last=1;"));
  for (std::uint64_t version : {1, 2, 3}) commit(version);
  ASSERT_TRUE(rank_.call(ipc::Drain{0}));
  for (const char* version : {"1", "2", "3"})
    EXPECT_TRUE(std::filesystem::exists(directory_ / "store/app/" + version)) << version;
}

TEST_F(EngineWithSteps, AnotherEngineTellsOnlyOfWhatIsStoredByIt) {
  ASSERT_TRUE(start_with("flush, retire, note-it, look-first"));
  commit(1);
  ASSERT_TRUE(rank_.call(ipc::Drain{0}));
  EXPECT_THAT(notes().versions_of("note-it"), ElementsAre(1));
  {
    os::FaultRules faults(*os::parse_fault_rules("pwrite:/store:EIO"));
    test_support::InstalledHooks installed(faults);
    commit(2);
    engine_->stop();
  }
  notes().forget();
  ASSERT_TRUE(start_with("flush, retire, note-it, look-first"));
  ASSERT_TRUE(notes().await(2));
  EXPECT_THAT(notes().versions_of("note-it"), ElementsAre(2));
  EXPECT_THAT(notes().versions_of("look-first"), ElementsAre(2)) << "which stands behind the flush";
}

TEST_F(EngineWithSteps, AnOrderThatCannotWorkIsRefusedWithTheReason) {
  const auto refused = [this](const std::string& pipeline, const std::string& more = "") {
    const auto started = start_with(pipeline, more);
    EXPECT_FALSE(started) << pipeline;
    return started ? std::string() : started.error().text();
  };
  EXPECT_THAT(refused("replicate, flsh, retire"), HasSubstr("there is no step 'flsh'; the nearest is 'flush'"));
  EXPECT_THAT(refused("flush, noteit"), HasSubstr("the nearest is 'note-it'"));
  EXPECT_THAT(refused("retire, flush"), HasSubstr("put it after flush"));
  EXPECT_THAT(refused("note-it, flush"), HasSubstr("note-it needs level store"));
  EXPECT_THAT(refused("replicate, retire"), HasSubstr("no step brings versions to the store"));
  EXPECT_THAT(refused("send-copies, flush"), HasSubstr("send-copies needs level node"));
  EXPECT_THAT(refused("flush, retire", "redundancy.scheme=xor;"), HasSubstr("name replicate"));
}

}  // namespace
}  // namespace perdure::engine
