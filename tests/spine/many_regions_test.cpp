// Tests programs with very many small regions, such as the patches of an adaptive mesh. The cost must grow with their
// number, not its square; otherwise these calls would not end before the test's limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "damage.hpp"
#include "os/hooks.hpp"
#include "support/installed_hooks.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

constexpr int kMostRegions = 1'000'000;
constexpr std::size_t kRegionBytes = 100;

class ManyRegions : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = {}) const { return options_in(directory_.path(), GetParam(), more); }
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ManyRegions, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

/// Small regions in one block of memory, in another order than that of their ids.
struct Patches {
  explicit Patches(int patches)
      : count(static_cast<std::size_t>(patches)), memory(static_cast<std::size_t>(patches) * kRegionBytes) {}
  unsigned char* address(int id) { return memory.data() + static_cast<std::size_t>(id) * 7919 % count * kRegionBytes; }
  void fill(unsigned seed) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>((i * 31 + seed) % 251);
  }
  std::size_t count;
  std::vector<unsigned char> memory;
};

TEST_P(ManyRegions, AreProtectedCapturedAndRestored) {
  RunOptions run;
  run.ranks = 1;
  run.timeout_s = 280;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    Patches patches(kSanitized ? 20'000 : 100'000);
    const auto count = static_cast<int>(patches.count);
    patches.fill(1);
    perdure_t* handle = rank.open(options("tier.memory.max_bytes=256MiB;chunk_bytes=64KiB"));
    for (int id = 0; id < count; ++id)
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, id, patches.address(id), 1, kRegionBytes));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "mesh", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "mesh", 1, PERDURE_LEVEL_STORE, PERDURE_FOREVER));
    const auto expected = patches.memory;
    patches.fill(2);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "mesh", PERDURE_LATEST));
    REQUIRE(patches.memory == expected);
    for (int id = 0; id < count; ++id) REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, id));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(ManyRegions, MoreThanAMillionAreRefusedBeforeAnythingIsWritten) {
  RunOptions run;
  run.ranks = 1;
  run.timeout_s = 280;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    for (int id = 0; id < kMostRegions; ++id)
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, id, nullptr, 1, 0));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, kMostRegions, nullptr, 1, 0));
    REQUIRE(std::string(perdure_error_text(handle)).find("put what lies side by side in memory into one region") !=
            std::string::npos);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 5, nullptr, 1, 0));  // it is one of them
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, 6));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, kMostRegions, nullptr, 1, 0));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

/// Each rank writes `count` regions of one byte as version 1, or restores them from the store.
int share_a_segment(const Rank& rank, const std::string& options, int count, bool written) {
  std::vector<unsigned char> memory(static_cast<std::size_t>(count)), expected(memory.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = static_cast<unsigned char>((i * 31 + static_cast<std::size_t>(rank.rank)) % 251);
  if (!written) memory = expected;
  perdure_t* handle = rank.open(options);
  for (int id = 0; id < count; ++id)
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, id, memory.data() + id, 1, 1));
  if (written) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "mesh", PERDURE_LATEST));
    REQUIRE(memory == expected);
  } else {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "mesh", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "mesh", 1, PERDURE_LEVEL_STORE, PERDURE_FOREVER));
  }
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
  return 0;
}

// One segment holds more than a million regions. Before each rank had its own table, this was refused; still earlier it
// was acknowledged and could not be read.
TEST_P(ManyRegions, OfAllRanksOfASegmentMayBeMoreThanOneManifestHolds) {
  RunOptions run;
  run.ranks = 6;
  run.timeout_s = 280;
  const int count = kSanitized ? 2'000 : 180'000;
  for (const bool written : {false, true}) {
    const auto outcome =
        run_ranks(run, [&](const Rank& rank) { return share_a_segment(rank, options(), count, written); });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
    if (!written) expect_clean_store(directory_.path() + "/store", "mesh", {1});
    for (const char* node : {"/node", "/file"}) std::filesystem::remove_all(directory_.path() + node);
  }
  const auto file = std::find_if(std::filesystem::recursive_directory_iterator(directory_.path() + "/store/mesh/1"), {},
                                 [](const auto& entry) { return entry.path().extension() == ".pds"; });
  EXPECT_EQ(read_bytes(file->path()).at(8), kSanitized ? 1 : 3) << "its format";
}

/// Counts the messages of this process to its engine.
class CountedMessages : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    if (std::string_view(operation.call) == "send") ++sent_;
    return 0;
  }
  unsigned take() { return sent_.exchange(0); }

 private:
  std::atomic<unsigned> sent_ = 0;
};

// With a daemon, all messages of this process are the client's.
TEST_P(ManyRegions, AreAnnouncedByTheNextCollectiveCallAndNotOneByOne) {
  RunOptions run;
  run.ranks = 1;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    Patches patches(2000);
    CountedMessages messages;
    InstalledHooks installed(messages);
    std::vector<unsigned> calls;
    std::int64_t none = 0;
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_latest(handle, "mesh", &none));  // the first use of the name
    (void)messages.take();
    for (const int count : {10, 1000, 2000}) {
      for (int id = 0; id < count; ++id)
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, id, patches.address(id), 1, kRegionBytes));
      REQUIRE(messages.take() == 0);
      std::int64_t version = 0;
      REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_latest(handle, "mesh", &version));
      calls.push_back(messages.take());
    }
    REQUIRE(calls[0] > 0 && calls[1] == calls[0] && calls[2] == calls[0]);
    for (int id = 0; id < 2000; ++id) REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, id));
    REQUIRE(messages.take() == 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

}  // namespace
