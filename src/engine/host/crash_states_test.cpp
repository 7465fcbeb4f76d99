// Tests every state that the death of an engine or its machine may leave of a node and its store. Death may come at
// each step of lives in which versions are captured, flushed, evicted, retired and dropped. A new engine starts on each
// state: it has what ranks were told, offers nothing partial or wrong, goes on, and leaves nothing behind.
#include <algorithm>

#include "engine/host/crash_states_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"
#include "support/sanitized.hpp"  // by which the plain build runs this file (perdure_at_length)

namespace perdure::engine {
namespace {

using test_support::DiskOperation;

// Slots exist already, and the new versions replace older ones.
TEST_F(EngineCrashStates, OfVersionsThatAreStoredAndTakeThePlaceOfOlderOnes) {
  start({});
  for (const std::uint64_t version : {1, 2}) checkpoint(version);
  record({committed_mark(2), stored_mark(2)});
  checkpoint(3);
  succeed(node_->stage(4, 0));  // its other rank never does
  for (const std::uint32_t rank : {0U, 1U}) ASSERT_TRUE(node_->call(ipc::Abort{CrashNode::id(4)}, rank));
  checkpoint(5);
  node_->stop();
  expect_consistent(100);
}

TEST_F(EngineCrashStates, OfVersionsWhoseSlotsAreTakenForTheNext) {
  take_slots_for_the_next();
  expect_consistent(50);
}

TEST_F(EngineCrashStates, OfVersionsThatAreLargerThanTheTiers) {
  start({.ranks = 1, .chunks = {CrashNode::kCrashChunk, CrashNode::kCrashChunk, 3000}, .slots = 2, .through = true});
  checkpoint(1);
  record({committed_mark(1), stored_mark(1)});
  checkpoint(2);
  node_->stop();
  expect_consistent(50);
}

TEST_F(EngineCrashStates, OfTheFirstStartAndTheEndOfAnEngine) {
  for (const char* root : {"/node", "/file"}) ASSERT_TRUE(os::make_private_directory(root_ + root));
  record();
  start({.ranks = 1});
  checkpoint(1);
  node_->stop();
  expect_consistent(100);
}

// An engine is killed while it goes on from the state that another killed engine left.
TEST_F(EngineCrashStates, OfAnEngineThatGoesOnFromADeath) {
  start({});
  checkpoint(1);
  {
    os::FaultRules faults(*os::parse_fault_rules("pwrite:/store:EIO"));
    const test_support::InstalledHooks installed(faults);
    succeed(node_->checkpoint(2));
    succeed(node_->stage(3, 1));
    node_->stop();
  }
  record({committed_mark(1), stored_mark(1), committed_mark(2)});
  succeed(node_->start());
  succeed(node_->connect(true));
  for (const std::uint32_t rank : {0U, 1U}) ASSERT_TRUE(node_->call(ipc::Abort{CrashNode::id(3)}, rank));
  succeed(node_->await_stored(2));
  mark(stored_mark(2));
  succeed(node_->drain());
  node_->stop();
  expect_consistent(50);
}

/// Lives in which one operation was done differently.
class CarelessEngine : public EngineCrashStates {};

TEST_F(CarelessEngine, IsNoticedWhereASegmentIsNotSyncedBeforeItHasItsName) {
  take_slots_for_the_next();
  std::size_t left_out = 0;
  EXPECT_TRUE(notices([&](std::vector<DiskOperation>& operations) {
    for (DiskOperation& operation : operations)
      if (operation.call == "fdatasync" && operation.path.starts_with("store/")) {
        operation.call = "open";  // no effect on an existing file
        ++left_out;
      }
  }));
  EXPECT_EQ(left_out, 1U);
}

TEST_F(CarelessEngine, IsNoticedWhereASlotIsWrittenBeforeTheCatalogGivesItUp) {
  take_slots_for_the_next();
  EXPECT_TRUE(notices([](std::vector<DiskOperation>& operations) {
    const auto gives_up = std::find_if(operations.begin(), operations.end(), [](const DiskOperation& operation) {
      const std::string text(reinterpret_cast<const char*>(operation.data.data()), operation.data.size());
      return operation.path.ends_with("/catalog") && text.find("drop") != std::string::npos;
    });
    const auto written = std::find_if(gives_up, operations.end(), [](const DiskOperation& operation) {
      return operation.call == "pwrite" && operation.path.find("/slot-") != std::string::npos;
    });
    ASSERT_NE(written, operations.end());
    std::rotate(gives_up, gives_up + 1, written + 1);
  }));
}

}  // namespace
}  // namespace perdure::engine
