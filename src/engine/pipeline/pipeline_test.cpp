#include "engine/pipeline/pipeline.hpp"

#include <gmock/gmock.h>

#include "engine/ledger/redundancy_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"

namespace perdure::engine {
namespace {

using testing::ElementsAre;

/// Records the notifications of steps, as "name version".
class Heard {
 public:
  void add(const std::string& what, const segment::VersionId& id) {
    const std::lock_guard lock(mutex_);
    all_.push_back(what + " " + std::to_string(id.version));
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

class HearingOwnStep : public OwnStep {
 public:
  HearingOwnStep(std::string name, Heard& heard) : name_(std::move(name)), heard_(heard) {}
  void take(const StepVersion& version) override { heard_.add(name_, version.id); }
  void stored(const segment::VersionId& id) override { heard_.add(name_ + " stored", id); }
  StepStatus status() const override { return {}; }

 private:
  std::string name_;
  Heard& heard_;
};

class HearingStep : public Step {
 public:
  HearingStep(std::string name, Heard& heard) : name_(std::move(name)), heard_(heard) {}
  base::Status run(const StepVersion& version, const std::atomic<bool>&) override {
    heard_.add(name_ + (version.recovered ? " again at " : " at ") + plan::level_name(version.level), version.id);
    return {};
  }

 private:
  std::string name_;
  Heard& heard_;
};

class ThrowingStep : public Step {
 public:
  base::Status run(const StepVersion& version, const std::atomic<bool>&) override {
    if (version.id.version == 1) throw std::runtime_error("a library of its own");
    throw 7;
  }
};

class PipelineOfTests : public RedundancyFixture {
 protected:
  void SetUp() override { open({8}); }
  void make(const std::vector<std::string>& names) {
    std::vector<Pipeline::Part> parts;
    for (const auto& name : names) {
      if (name == "early" || name == "middle" || name == "late") {
        const Level needs = name == "early" ? Level::process : name == "middle" ? Level::node : Level::store;
        parts.push_back({{name, "", needs}, nullptr, std::make_unique<HearingStep>(name, heard)});
        continue;
      }
      const auto level = name == "replicate" ? Level::node : Level::store;
      StepRow row{name, "", name == "retire" ? Level::store : Level::process};
      if (name != "retire") row.gives = level;
      parts.push_back({row, &own.emplace(name, HearingOwnStep(name, heard)).first->second});
    }
    pipeline = std::make_unique<Pipeline>(*ledger, reports, std::move(parts), [] {});
  }
  void TearDown() override { pipeline.reset(); }
  /// Commits as the handler of a commit does.
  void commit(std::uint64_t version) {
    {
      const auto guard = ledger->lock();
      ASSERT_TRUE(checkpoint(version));
      pipeline->admit(*guard, id(version), false);
    }
    pipeline->committed(id(version), false);
  }
  void store_it(std::uint64_t version) {
    {
      const auto guard = ledger->lock();
      store(version);
    }
    pipeline->stored(id(version));
  }
  /// Returns what was recorded once no added step has anything to do.
  std::vector<std::string> heard_so_far() {
    EXPECT_TRUE(test_support::eventually("no step has anything to do", [this] { return pipeline->idle(); }));
    return heard.all();
  }
  Heard heard;
  std::map<std::string, HearingOwnStep> own;
  std::unique_ptr<Pipeline> pipeline;
};

TEST_F(PipelineOfTests, TheEnginesOwnStepsAreToldInTheirOrder) {
  make({"replicate", "flush", "retire"});
  commit(1);
  EXPECT_THAT(heard.all(), ElementsAre("replicate 1", "flush 1"));
  store_it(1);
  EXPECT_THAT(heard.all(), ElementsAre("replicate 1", "flush 1", "retire 1", "replicate stored 1", "flush stored 1",
                                       "retire stored 1"));
}

TEST_F(PipelineOfTests, TheOrderIsThatOfTheOption) {
  make({"flush", "replicate", "retire"});
  commit(1);
  EXPECT_THAT(heard.all(), ElementsAre("flush 1", "replicate 1"));
}

TEST_F(PipelineOfTests, AStepIsToldOfALevelWhenTheLedgerHasIt) {
  make({"early", "replicate", "middle", "flush", "late"});
  commit(1);
  EXPECT_THAT(heard_so_far(), testing::UnorderedElementsAre("replicate 1", "flush 1", "early at process 1"))
      << "a thread that has just begun may take the version before the engine's own steps are told";
  pipeline->look();
  EXPECT_EQ(heard_so_far().size(), 3u) << "nothing changed";
  {
    const auto guard = ledger->lock();
    auto kept = redundancy_set(1, {take(1)});
    kept.position = 0;  // the position whose piece is here
    ASSERT_TRUE(core->redundancy.keep(kept));
    ASSERT_TRUE(core->redundancy.reached(protection_id(1)));
  }
  pipeline->look();
  EXPECT_EQ(heard_so_far().back(), "middle at node 1");
  pipeline->look();
  EXPECT_EQ(heard_so_far().size(), 4u);
  store_it(1);
  EXPECT_THAT(heard_so_far(), testing::Contains("late at store 1"));
  EXPECT_EQ(heard_so_far().size(), 4u + 3u) << "the engine's own two, and the last";
}

TEST_F(PipelineOfTests, ACommitThatIsSaidAgainIsNoOtherVersion) {
  make({"flush", "late"});
  commit(1);
  pipeline->committed(id(1), false);
  store_it(1);
  pipeline->committed(id(1), false);
  pipeline->stored(id(1));
  EXPECT_EQ(testing::Matches(testing::Contains("late at store 1"))(heard_so_far()), true);
  const auto all = heard_so_far();
  EXPECT_EQ(std::count(all.begin(), all.end(), "late at store 1"), 1);
}

TEST_F(PipelineOfTests, WhatLeftTheNodeBeforeItsLevelIsNotWaitedFor) {
  make({"replicate", "flush", "late"});
  commit(1);
  {
    const auto guard = ledger->lock();
    ASSERT_TRUE(core->held.retire({"app", 1}));
  }
  pipeline->look();
  commit(2);
  store_it(2);
  EXPECT_THAT(heard_so_far(), testing::Not(testing::Contains("late at store 1")));
  EXPECT_TRUE(pipeline->idle());
}

TEST_F(PipelineOfTests, RetentionIsTakenUpWhereAnEarlierEngineLeftIt) {
  ASSERT_TRUE(checkpoint(1));
  ASSERT_TRUE(checkpoint(2));
  store(1);
  make({"early", "flush", "retire", "late"});
  pipeline->resume();
  EXPECT_THAT(heard_so_far(), ElementsAre("retire 1", "retire 2"));
  store_it(2);
  EXPECT_THAT(heard_so_far(), testing::Contains("late at store 2"));
  EXPECT_THAT(heard_so_far(), testing::Not(testing::Contains("early at process 2")));
}

TEST_F(PipelineOfTests, WhatAStepThrowsIsItsErrorAndEndsNothing) {
  std::vector<Pipeline::Part> parts;
  parts.push_back({{"throwing", "", Level::process}, nullptr, std::make_unique<ThrowingStep>()});
  StepRow flush{"flush", "", Level::process};
  flush.gives = Level::store;
  parts.push_back({flush, &own.emplace("flush", HearingOwnStep("flush", heard)).first->second});
  pipeline = std::make_unique<Pipeline>(*ledger, reports, std::move(parts), [] {});
  commit(1);
  (void)heard_so_far();
  EXPECT_THAT(pipeline->show()[0].status.reason, testing::HasSubstr("a library of its own"));
  commit(2);
  (void)heard_so_far();
  EXPECT_EQ(pipeline->show()[0].status.state, StepStatus::State::failed);
  EXPECT_THAT(pipeline->show()[0].status.reason, testing::HasSubstr("threw something"));
}

// After the record of the last segment, but before the flush reports it, other threads may drop the version, and look.
TEST_F(PipelineOfTests, WhatIsStoredAndDroppedAtOnceIsToldAllTheSame) {
  make({"flush", "late"});
  commit(1);
  {
    const auto guard = ledger->lock();
    store(1);
    pipeline->note_stored(id(1));
    ASSERT_TRUE(core->held.drop(id(1)));
  }
  commit(2);
  pipeline->look();
  pipeline->stored(id(1));
  EXPECT_THAT(heard_so_far(), testing::Contains("late at store 1"));
}

TEST_F(PipelineOfTests, AFlushThatSucceededWithAPartIsNotLevelStore) {
  make({"flush", "late", "retire"});
  commit(1);
  pipeline->stored(id(1));  // the ledger says that a segment is missing
  EXPECT_THAT(heard_so_far(), testing::Not(testing::Contains("late at store 1")));
  store_it(1);
  EXPECT_THAT(heard_so_far(), testing::Contains("late at store 1"));
}

TEST_F(PipelineOfTests, AStepIsToldThatAVersionWasRecovered) {
  make({"early", "flush"});
  {
    const auto guard = ledger->lock();
    ASSERT_TRUE(checkpoint(1));
    pipeline->admit(*guard, id(1), true);
  }
  pipeline->committed(id(1), true);
  EXPECT_THAT(heard_so_far(), testing::Contains("early again at process 1"));
}

}  // namespace
}  // namespace perdure::engine
