// Tests a checkpoint that does not fit into the tiers, so that temporary segments in the store hold a part of it. It is
// restored from there, whatever has to be stored before it.
#include <gtest/gtest.h>

#include <filesystem>

#include "faults.hpp"
#include "modes.hpp"
#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;
namespace fs = std::filesystem;

class HalfFlushed : public InAMode {
 protected:
  // There are three slots of 2 MiB for six chunks of 128 KiB. The engine retries failed publications for an hour.
  std::string options() const {
    return options_in(directory.path(), GetParam(),
                      "tier.order=memory;tier.memory.max_bytes=6MiB;retention.keep_last=9;checkpoint.timeout=60;"
                      "flush.give_up_after=3600;engine.drain_timeout=0.2");
  }
  bool published(std::int64_t version) const {
    const std::string path = directory.path() + "/store/app/" + std::to_string(version);
    if (!fs::exists(path)) return false;
    for (const auto& entry : fs::directory_iterator(path))
      if (!entry.path().filename().string().starts_with(".")) return true;
    return false;
  }
  void expect_success(const std::function<int(const Rank&)>& body) {
    RunOptions run;
    run.ranks = 1;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      faults.install();
      return body(rank);
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  TemporaryDirectory directory;
  Faults faults{directory.path()};
};
INSTANTIATE_TEST_SUITE_P(Modes, HalfFlushed, ::testing::Values("embedded", "daemon"), mode_name);
INSTANTIATE_TEST_SUITE_P(OnWrite, HalfFlushed, ::testing::Values("embedded_on_write", "daemon_on_write"), mode_name);

TEST_P(HalfFlushed, IsRestoredBeforeAnythingIsPublishedAndByTheNextLaunchToo) {
  constexpr std::size_t kWords = 70000;
  expect_success([&](const Rank& rank) {
    Protected app(rank, options(), kWords);
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    faults.set("fdatasync:/store/app:EIO");
    for (const int step : {2, 3}) {
      RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
      RANK_CHECK(app.restores(PERDURE_LATEST, static_cast<std::uint64_t>(step)), app.error());
    }
    RANK_CHECK(app.restores(2, 2) && app.restores(3, 3), app.error());
    RANK_CHECK((app.progress().restore_source & 2) != 0, "a part came from the store");
    RANK_CHECK(!published(2) && !published(3), "they were to wait for the store");
    return 0;  // no close, as if it had died
  });
  expect_success([&](const Rank& rank) {
    Protected app(rank, options(), kWords);
    RANK_CHECK(app.restores(PERDURE_LATEST, 3), app.error());
    RANK_CHECK(!published(2) && !published(3), "they were to wait for the store");
    faults.set("");
    RANK_CHECK(app.wait(2) == PERDURE_OK && app.wait(3) == PERDURE_OK, app.error());
    RANK_CHECK(app.restores(PERDURE_LATEST, 3) && app.restores(2, 2), app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory.path());
  expect_clean_store(directory.path() + "/store", "app", {1, 2, 3});
}

}  // namespace
