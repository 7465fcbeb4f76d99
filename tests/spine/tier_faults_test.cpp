// Tests tiers that are full, fail or are too small, and a catalog that cannot be written.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

#include "faults.hpp"
#include "modes.hpp"
#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;
namespace fs = std::filesystem;

/// Returns the bytes on disk or in memory of all files below `path` whose name begins with `prefix`.
std::uint64_t backed_bytes(const std::string& path, const std::string& prefix) {
  std::uint64_t bytes = 0;
  if (!fs::exists(path)) return 0;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    struct stat facts {};
    if (entry.path().filename().string().starts_with(prefix) && ::stat(entry.path().c_str(), &facts) == 0)
      bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
  }
  return bytes;
}

class TierFaults : public InAMode {
 protected:
  std::string options(const std::string& more) const { return options_in(directory.path(), GetParam(), more); }
  void expect_success(const std::function<int(const Rank&)>& body) {
    RunOptions run;
    run.ranks = 1;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      faults.install();
      return body(rank);
    });
    faults.set("");
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory.path());
  }
  TemporaryDirectory directory;
  Faults faults{directory.path()};
};
INSTANTIATE_TEST_SUITE_P(Modes, TierFaults, ::testing::Values("embedded", "daemon"), mode_name);
INSTANTIATE_TEST_SUITE_P(OnWrite, TierFaults, ::testing::Values("embedded_on_write", "daemon_on_write"), mode_name);

// There is room for one version in memory and five in files; the store accepts nothing for twelve checkpoints.
TEST_P(TierFaults, MemoryStaysBoundedWhileTheStoreFailsAndTheNewestVersionsSurvive) {
  expect_success([&](const Rank& rank) {
    Protected app(rank, options("tier.memory.max_bytes=6MiB;tier.file.max_bytes=1MiB;retention.keep_last=20"));
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    faults.set("pwrite:/store:EIO");
    for (int step = 2; step <= 13; ++step) {
      RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
      RANK_CHECK(backed_bytes(directory.path() + "/node", "arena") <= (8U << 20), "the memory tier grew");
      RANK_CHECK(backed_bytes(directory.path() + "/file", "slot-") <= (1U << 20), "the file tier grew");
    }
    const auto told = app.reports("given up before it reached the store");
    RANK_CHECK(count_containing(told, "given up before it reached the store") == 1, joined(told));
    RANK_CHECK(app.wait(2, 20) != PERDURE_OK, "version 2 was given up");
    RANK_CHECK(app.restores(PERDURE_LATEST, 13) && app.restores(1, 1), app.error());
    faults.set("");
    RANK_CHECK(app.wait(13) == PERDURE_OK, app.error());
    const auto after = app.reports("works again");
    RANK_CHECK(count_containing(after, "checkpoints were given up to make room") == 1, joined(after));
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
}

TEST_P(TierFaults, AFullFastTierWaitsForNoOneWhileTheNextHasRoom) {
  expect_success([&](const Rank& rank) {
    faults.set("slow:/store:20");
    Protected app(rank, options("tier.memory.max_bytes=4MiB;tier.file.max_bytes=64MiB;retention.keep_last=9"));
    for (int step = 1; step <= 3; ++step) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
    RANK_CHECK(backed_bytes(directory.path() + "/file", "slot-") > 0, "the file tier was not used");
    for (int step = 1; step <= 3; ++step) RANK_CHECK(app.restores(step, static_cast<std::uint64_t>(step)), app.error());
    faults.set("");
    RANK_CHECK(app.wait(3) == PERDURE_OK && app.close() == PERDURE_OK, "end");
    return 0;
  });
  expect_clean_store(directory.path() + "/store", "app", {1, 2, 3});
}

TEST_P(TierFaults, TiersThatHoldOneVersionMakeTheNextWaitForItsFlush) {
  expect_success([&](const Rank& rank) {
    Protected app(rank, options("tier.memory.max_bytes=4MiB;tier.order=memory;retention.keep_last=9"));
    for (int step = 1; step <= 5; ++step) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
    RANK_CHECK(app.wait(5) == PERDURE_OK && app.close() == PERDURE_OK, "end");
    return 0;
  });
  expect_clean_store(directory.path() + "/store", "app", {1, 2, 3, 4, 5});
}

TEST_P(TierFaults, AVersionThatCanNeverFitIsRefusedAndTheHandleStaysUsable) {
  expect_success([&](const Rank& rank) {
    Protected app(rank, options("tier.memory.max_bytes=1MiB;tier.file.max_bytes=128KiB;flush.during_capture=never"));
    RANK_CHECK(app.checkpoint(1) == PERDURE_NO_SPACE, app.error());
    RANK_CHECK(app.error().find("tier.memory.max_bytes") != std::string::npos, app.error());
    perdure_unprotect(app.handle(), 2);
    RANK_CHECK(perdure_checkpoint(app.handle(), "app", 2) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  expect_clean_store(directory.path() + "/store", "app", {2});
}

// It fits only if its slots are reused, so it depends on the store from its beginning.
TEST_P(TierFaults, AVersionLargerThanAllTiersFailsWithTheReasonWhileTheStoreDoesAndTheHandleStaysUsable) {
  expect_success([&](const Rank& rank) {
    Protected app(rank, options("tier.memory.max_bytes=1MiB;tier.file.max_bytes=128KiB;checkpoint.timeout=2"));
    faults.set("pwrite:/store:EIO");
    RANK_CHECK(app.checkpoint(1) == PERDURE_TIMEOUT, app.error());
    RANK_CHECK(app.error().find("the store takes data too slowly, or not at all") != std::string::npos, app.error());
    faults.set("pwrite:/store:EINVAL");
    RANK_CHECK(app.checkpoint(2) != PERDURE_OK, app.error());
    RANK_CHECK(app.error().find("/store") != std::string::npos, app.error());
    faults.set("");
    RANK_CHECK(app.checkpoint(3) == PERDURE_OK && app.wait(3) == PERDURE_OK, app.error());
    RANK_CHECK(app.restores(PERDURE_LATEST, 3) && app.close() == PERDURE_OK, app.error());
    return 0;
  });
  expect_clean_store(directory.path() + "/store", "app", {3});
}

struct Fault {
  const char* what;
  std::string order, rules;
};

TEST_P(TierFaults, ATierThatCannotBeWrittenIsReplacedByTheNextAndReportedOnce) {
  const std::vector<Fault> all = {
      {"no memory behind a slot", "memory,file", "madvise:/arena:EFAULT;fallocate:/arena:ENOSPC"},
      {"no room for a slot file", "file,memory", "fallocate:/slot-:ENOSPC"},
      {"quota on slot files", "file,memory", "open:/slot-:EDQUOT"},
      {"a failing disk", "file,memory", "pwrite:/slot-:EIO"}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].what);
    expect_success([&](const Rank& rank) {
      faults.set(all[i].rules);
      const std::string number = std::to_string(i);
      Protected app(rank,
                    options("tier.order=" + all[i].order +
                            ";placement.policy=hybrid-naive;tier.memory.prefault=false;retention.keep_last=99;job=" +
                            number + ";store.path=" + directory.path() + "/store" + number));
      const auto first = static_cast<std::int64_t>(10 * i);
      for (auto step : {first, first + 1, first + 2}) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
      const auto told = app.reports("using the next tier");
      RANK_CHECK(count_containing(told, "using the next tier") == 1, joined(told));
      RANK_CHECK(app.restores(PERDURE_LATEST, static_cast<std::uint64_t>(first + 2)), app.error());
      RANK_CHECK(app.wait(first + 2) == PERDURE_OK && app.close() == PERDURE_OK, app.error());
      return 0;
    });
  }
}

TEST_P(TierFaults, WhenNoTierCanBeWrittenTheCheckpointFailsWithTheReasonAndTheNextSucceeds) {
  expect_success([&](const Rank& rank) {
    Protected app(rank, options("tier.memory.prefault=false"));
    faults.set("madvise:/arena:EFAULT;fallocate:/arena:ENOSPC;fallocate:/slot-:ENOSPC");
    RANK_CHECK(app.checkpoint(1) == PERDURE_NO_SPACE, app.error());
    faults.set("");
    RANK_CHECK(app.checkpoint(2) == PERDURE_OK && app.wait(2) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  expect_clean_store(directory.path() + "/store", "app", {2});
}

// A slot that was requested ahead must not wait for one that its own rank cannot write, nor the rank for it.
TEST_P(TierFaults, NorDoesARankWaitForItselfWhereTheTiersAreSmallerThanTheCheckpoint) {
  for (const std::string tiers : {"tier.memory.max_bytes=2MiB;tier.file.max_bytes=128KiB",
                                  "tier.memory.max_bytes=4MiB;tier.file.max_bytes=128KiB"}) {
    SCOPED_TRACE(tiers);
    expect_success([&](const Rank& rank) {
      Protected app(rank, options(tiers + ";tier.memory.prefault=false;retention.keep_last=99"), 70000);
      const std::int64_t first = tiers.find("2MiB") == std::string::npos ? 10 : 1;
      faults.set("madvise:/arena:EFAULT;fallocate:/arena:ENOSPC;fallocate:/slot-:ENOSPC");
      RANK_CHECK(app.checkpoint(first) == PERDURE_NO_SPACE, app.error());
      faults.set("madvise:/arena:EFAULT;fallocate:/arena:ENOSPC");
      RANK_CHECK(app.checkpoint(first + 1) == PERDURE_OK && app.wait(first + 1) == PERDURE_OK, app.error());
      faults.set("");
      RANK_CHECK(app.checkpoint(first + 2) == PERDURE_OK && app.wait(first + 2) == PERDURE_OK, app.error());
      RANK_CHECK(app.restores(PERDURE_LATEST, static_cast<std::uint64_t>(first + 2)), app.error());
      RANK_CHECK(app.close() == PERDURE_OK, "close");
      return 0;
    });
  }
  expect_clean_store(directory.path() + "/store", "app", {2, 3, 11, 12});
}

TEST_P(TierFaults, AFullCatalogFailsTheCheckpointCleanlyOrDelaysItsFlush) {
  expect_success([&](const Rank& rank) {
    Protected app(rank, options(""));
    for (const char* error : {"ENOSPC", "EDQUOT", "EIO"}) {
      faults.set(std::string("pwrite:/catalog:") + error);
      RANK_CHECK(app.checkpoint(1) != PERDURE_OK, error);
      RANK_CHECK(app.error().find("/catalog") != std::string::npos, app.error());
    }
    faults.set("pwrite:/catalog:ENOSPC:3:2");  // the first record says where the store is, the second stages the piece
    RANK_CHECK(app.checkpoint(2) == PERDURE_OK, app.error());
    const auto told = app.reports("will be flushed when it can be written again");
    RANK_CHECK(count_containing(told, "catalog: /") == 1, joined(told));
    RANK_CHECK(app.restores(2, 2), app.error());
    faults.set("");
    RANK_CHECK(app.wait(2) == PERDURE_OK && app.checkpoint(3) == PERDURE_OK && app.wait(3) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  expect_clean_store(directory.path() + "/store", "app", {2, 3});
}

}  // namespace
