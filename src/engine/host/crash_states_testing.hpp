#pragma once
// For tests only: records the life of a node with its engine, and judges every state of its disk that a crash may
// leave.
#include <gtest/gtest-spi.h>
#include <sys/stat.h>

#include <filesystem>

#include "engine/host/crash_judge_testing.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::engine {

class EngineCrashStates : public testing::Test {
 protected:
  using Promises = std::vector<std::string>;

  /// Hundreds of engines start in each test, one after the other. That is expensive with a sanitizer, and shows it
  /// nothing new.
  void SetUp() override {
    if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  }
  /// Begins to record. Promises given to ranks before are durable: "stored 1", for instance.
  void record(const Promises& before = {}) {
    log_ = std::make_unique<test_support::OperationLog>(root_);
    for (const std::string& promise : before) log_->mark(promise);
  }
  void start(const CrashShape& shape) {
    node_ = std::make_unique<CrashNode>(root_, shape);
    succeed(node_->start());
    succeed(node_->connect(true));
  }
  /// Takes a checkpoint and waits until it is stored and older ones are retired.
  void checkpoint(std::uint64_t version) {
    succeed(node_->checkpoint(version));
    mark(committed_mark(version));
    succeed(node_->await_stored(version));
    mark(stored_mark(version));
    succeed(node_->drain());
  }
  /// Has room for two versions, which are in the store when the third one comes.
  void take_slots_for_the_next() {
    start({.keep_last = 2});
    for (const std::uint64_t version : {1, 2}) checkpoint(version);
    record({committed_mark(1), stored_mark(1), committed_mark(2), stored_mark(2)});
    checkpoint(3);
    node_->stop();
  }
  void mark(const std::string& promise) {
    if (log_) log_->mark(promise);
  }
  static void succeed(const base::Status& status) { ASSERT_TRUE(status) << status.error().text(); }

  /// Ends the recording, and judges all possible states. The engine of the recorded life must have ended.
  void expect_consistent(std::size_t least) {
    os::install_hooks(nullptr);
    ASSERT_FALSE(HasFailure());
    const std::size_t states = test_support::for_each_crash_state(*log_, [&](const test_support::CrashState& state) {
      if (HasFailure()) return;  // the first failure is enough
      SCOPED_TRACE(state.description);
      make_disk(state);
      CrashJudge(state, *node_, root_).judge();
      node_->stop();
    });
    RecordProperty("operations", static_cast<int>(log_->operations().size()));
    RecordProperty("states", static_cast<int>(states));
    EXPECT_GT(states, least);
  }

  /// True if a state breaks a promise when `mistake` has changed the recorded operations.
  bool notices(const std::function<void(std::vector<test_support::DiskOperation>&)>& mistake) {
    os::install_hooks(nullptr);
    log_->alter(mistake);
    bool noticed = false;
    test_support::for_each_crash_state(*log_, [&](const test_support::CrashState& state) {
      if (noticed || HasFailure()) return;
      make_disk(state);
      testing::TestPartResultArray failures;
      {
        using Reporter = testing::ScopedFakeTestPartResultReporter;
        const Reporter reporter(Reporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
        CrashJudge(state, *node_, root_).judge();
      }
      node_->stop();
      noticed = failures.size() > 0;
    });
    return noticed;
  }

  test_support::TemporaryDirectory directory_{test_support::TemporaryDirectory::Place::memory};
  const std::string root_ = directory_.path();
  std::unique_ptr<test_support::OperationLog> log_;
  std::unique_ptr<CrashNode> node_;

 private:
  // Writes to the same path, by which a node recognises its own data.
  void make_disk(const test_support::CrashState& state) const {
    for (const auto& entry : std::filesystem::directory_iterator(root_)) std::filesystem::remove_all(entry.path());
    state.image.write_to(root_);
    for (const std::string& path : state.image.directories) ::chmod((root_ + "/" + path).c_str(), 0700);
  }
};

}  // namespace perdure::engine
