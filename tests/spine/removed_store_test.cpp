// Tests a store that somebody removes or replaces, under a living engine or between two launches.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "os/system.hpp"
#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

namespace fs = std::filesystem;
using namespace perdure;
using namespace perdure::test_support;

class RemovedStore : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options() const { return options_in(directory_.path(), GetParam(), "checkpoint.lease=1"); }
  /// Runs a job of one rank with one region.
  void expect_success(const std::function<int(const Rank&, perdure_t*&, std::uint64_t&)>& body) {
    RunOptions run;
    run.ranks = 1;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      std::uint64_t value = 0;
      perdure_t* handle = nullptr;
      char message[500] = "";
      RANK_CHECK(perdure_open(options().c_str(), &handle, message, sizeof message) == PERDURE_OK, message);
      RANK_CHECK(perdure_protect(handle, 1, &value, 8, 1) == PERDURE_OK, perdure_error_text(handle));
      return body(rank, handle, value);
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  static std::string reports(perdure_t* handle) {
    std::string all;
    char text[2000] = "";
    while (perdure_next_report(handle, text, sizeof text) == PERDURE_OK) all += std::string(text) + "\n";
    return all;
  }
  // Removes it atomically. The owner of the name may write its record during the removal.
  void remove_store() const {
    const std::string away = directory_.path() + "/away";
    fs::rename(store_, away);
    std::error_code ignored;
    while (fs::exists(away)) fs::remove_all(away, ignored);
  }
  TemporaryDirectory directory_;
  const std::string store_ = directory_.path() + "/store";
};
INSTANTIATE_TEST_SUITE_P(Modes, RemovedStore, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(RemovedStore, UnderALivingEngineGetsAgainWhatIsStillOnTheNodeAndThatIsSaid) {
  expect_success([&](const Rank&, perdure_t*& handle, std::uint64_t& value) {
    for (value = 1; value <= 2; ++value) {
      RANK_CHECK(perdure_checkpoint(handle, "app", static_cast<std::int64_t>(value)) == PERDURE_OK,
                 perdure_error_text(handle));
      RANK_CHECK(perdure_wait(handle, "app", static_cast<std::int64_t>(value), PERDURE_LEVEL_STORE, 30) == PERDURE_OK,
                 perdure_error_text(handle));
    }
    remove_store();
    fs::create_directory(store_);
    perdure_level level = PERDURE_LEVEL_NONE;
    RANK_CHECK(perdure_level_reached(handle, "app", 2, &level) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(level < PERDURE_LEVEL_STORE, "level " + std::to_string(static_cast<int>(level)));
    value = 3;
    RANK_CHECK(perdure_checkpoint(handle, "app", 3) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(perdure_wait(handle, "app", 3, PERDURE_LEVEL_STORE, 30) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(perdure_level_reached(handle, "app", 2, &level) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(level == PERDURE_LEVEL_STORE, "level " + std::to_string(static_cast<int>(level)));
    const std::string told = reports(handle);
    RANK_CHECK(told.find("nothing any more of what this node brought there of app") != std::string::npos, told);
    RANK_CHECK(perdure_close(&handle) == PERDURE_OK, "close");
    return 0;
  });
}

// An embedded engine ends with its program, and then keeps no stored version.
class RemovedStoreOfALeftEngine : public RemovedStore {};
INSTANTIATE_TEST_SUITE_P(Modes, RemovedStoreOfALeftEngine, ::testing::Values("daemon"),
                         [](const auto& param) { return std::string(param.param); });

// Seed 535 of the campaign: a wait for the store reports what is there now.
TEST_P(RemovedStoreOfALeftEngine, BetweenTwoLaunchesIsNoPlaceWhereAnythingIsStored) {
  expect_success([&](const Rank&, perdure_t*& handle, std::uint64_t& value) {
    value = 7;
    RANK_CHECK(perdure_checkpoint(handle, "app", 1) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(perdure_close(&handle) == PERDURE_OK, "close");
    return 0;
  });
  remove_store();
  expect_success([&](const Rank&, perdure_t*& handle, std::uint64_t& value) {
    RANK_CHECK(perdure_restore(handle, "app", PERDURE_LATEST) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(value == 7, "not what was there");
    // The engine of the first launch waits for the store's directory to come back.
    const int waited = perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 1);
    RANK_CHECK(waited == PERDURE_TIMEOUT, perdure_error_text(handle));
    RANK_CHECK(fs::create_directory(store_), "store");
    RANK_CHECK(perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 60) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(fs::exists(store_ + "/app/1"), "it is not there");
    RANK_CHECK(perdure_close(&handle) == PERDURE_OK, "close");
    return 0;
  });
}

// Seed 91 of the campaign: the engine remembers what it stored, and nobody can check the store now. The engine of the
// first launch continues without faults; once the store is readable again, all is as before.
TEST_P(RemovedStoreOfALeftEngine, ThatCannotBeReadIsNotSaidToHaveWhatAnEarlierLaunchBroughtThere) {
  expect_success([&](const Rank&, perdure_t*& handle, std::uint64_t& value) {
    value = 7;
    RANK_CHECK(perdure_checkpoint(handle, "app", 1) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30) == PERDURE_OK, perdure_error_text(handle));
    return 0;
  });
  ::setenv("PERDURE_TEST_FAULTS", ("*:" + store_ + ":EIO").c_str(), 1);
  expect_success([&](const Rank&, perdure_t*& handle, std::uint64_t& value) {
    RANK_CHECK(perdure_restore(handle, "app", PERDURE_LATEST) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(value == 7, "not what was there");
    for (const int level : {PERDURE_LEVEL_NODE, PERDURE_LEVEL_STORE})
      RANK_CHECK(perdure_wait(handle, "app", 1, static_cast<perdure_level>(level), 30) == PERDURE_IO,
                 perdure_error_text(handle));
    return 0;
  });
  ::unsetenv("PERDURE_TEST_FAULTS");
  expect_success([&](const Rank&, perdure_t*& handle, std::uint64_t&) {
    RANK_CHECK(perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30) == PERDURE_OK, perdure_error_text(handle));
    RANK_CHECK(perdure_close(&handle) == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory_.path());
}

}  // namespace
