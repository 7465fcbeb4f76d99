// Tests that resources are returned: after a thousand checkpoints, after a hundred handles, and after a killed job.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "os/socket.hpp"
#include "scenario.hpp"
#include "support/temporary_directory.hpp"
#include "usage.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::int64_t kLast = unless_sanitized(1000, 200);
constexpr std::uint64_t kStored =
    2 + 3;                 ///< files in the store: two segments, the name's owner, its lock, and the incarnation
constexpr int kRound = 4;  ///< checkpoints between waits for the store

// All directories are in memory, so that thousands of syncs take no time.
class Leaks : public ::testing::TestWithParam<const char*> {
 protected:
  bool daemon() const { return std::string(GetParam()) == "daemon"; }
  std::string options(const std::string& more) const {
    return options_in(path(), GetParam(), "retention.keep_last=2;engine.idle_exit=30;" + more);
  }
  const std::string& path() const { return directory_.path(); }

 private:
  test_support::TemporaryDirectory directory_{test_support::TemporaryDirectory::Place::memory};
};
INSTANTIATE_TEST_SUITE_P(Modes, Leaks, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

std::set<std::string> node_directories(const std::string& directory) {
  std::set<std::string> names;
  for (const char* part : {"/node", "/file"})
    if (auto entries = os::list_directory(directory + part))
      for (const auto& entry : *entries) names.insert(part + ("/" + entry.name));
  return names;
}

// The directories disappear after the lock for which stop_daemons() waits.
std::set<std::string> node_directories_in_the_end(const std::string& directory) {
  (void)eventually("nothing is left on the nodes", [&] { return node_directories(directory).empty(); });
  return node_directories(directory);
}

// Returns the process behind the only socket below `directory`: the perdured, or the rank that hosts the engine.
int engine_pid(const std::string& directory) {
  auto nodes = os::list_directory(directory + "/node");
  if (!nodes || nodes->size() != 1) return -1;
  auto socket = os::connect_to(directory + "/node/" + nodes->front().name + "/socket");
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (!socket || ::getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return -1;
  return peer.pid;
}

int complain(const char* what, std::uint64_t before, std::uint64_t after) {
  std::fprintf(stderr, "%s: %llu before, %llu after\n", what, static_cast<unsigned long long>(before),
               static_cast<unsigned long long>(after));
  return 1;
}

// Returns 0, or 1 with a message if `after` uses more than `before` plus the slack.
int judge(const char* whose, const Usage& before, const Usage& after, std::uint64_t slack_bytes) {
  std::fprintf(stderr, "%s: ", whose);
  if (after.descriptors > before.descriptors) return complain("descriptors", before.descriptors, after.descriptors);
  if (after.threads > before.threads) return complain("threads", before.threads, after.threads);
  // Sanitizers add mappings as they go.
  if (kMemoryIsMeasurable && after.mappings > before.mappings + 8)
    return complain("mappings", before.mappings, after.mappings);
  if (kMemoryIsMeasurable && after.anonymous_bytes > before.anonymous_bytes + slack_bytes)
    return complain("anonymous memory", before.anonymous_bytes, after.anonymous_bytes);
  std::fprintf(stderr, "good\n");
  return 0;
}

perdure_progress progress_of(perdure_t* handle) {
  perdure_progress progress{};
  perdure_get_progress(handle, &progress);
  return progress;
}

// A leak lasts; a descriptor that background work holds for a moment does not.
Usage lasting_usage(int pid) {
  Usage least = usage_of(pid);
  for (int i = 0; i < 20; ++i) {
    ::usleep(5000);  // wait: what is held for a moment is given back meanwhile
    least.descriptors = std::min(least.descriptors, usage_of(pid).descriptors);
  }
  return least;
}

// Resources while no work is in flight: of processes, and files on the node and in the store.
struct Snapshot {
  Usage rank, engine;
  Files node, store;
  std::uint64_t pending = 0;
};

Snapshot snapshot(perdure_t* handle, const std::string& directory, int engine) {
  Snapshot s;
  (void)eventually("retention has done its work", [&] {
    s.pending = progress_of(handle).versions_pending;
    s.store = files_below(directory + "/store");
    return s.pending == 0 && s.store.count <= kStored;
  });
  s.rank = lasting_usage(::getpid());
  s.engine = lasting_usage(engine);
  s.node = files_below(directory + "/node");
  const Files file_tier = files_below(directory + "/file");
  s.node.count += file_tier.count;
  s.node.bytes += file_tier.bytes;
  return s;
}

int judge(const Snapshot& before, const Snapshot& after) {
  int bad = judge("rank", before.rank, after.rank, kMiB) + judge("engine", before.engine, after.engine, kMiB);
  if (after.pending != 0) bad += complain("versions pending", 0, after.pending);
  if (after.store.count > kStored) bad += complain("files in the store", kStored, after.store.count);
  if (after.node.count > before.node.count) bad += complain("files on the node", before.node.count, after.node.count);
  // The node has slots (2 MiB each) for two kept versions and for those of one round on their way to the store. The
  // catalog's log is compacted later. How many slots one round needs depends on how far the flush is behind.
  if (after.node.bytes > (2 + kRound + 2) * 2 * kMiB + kMiB)
    bad += complain("bytes on the node", before.node.bytes, after.node.bytes);
  return bad;
}

int checkpoint_up_to(perdure_t* handle, std::int64_t& version, std::int64_t last) {
  while (version < last) {
    if (perdure_checkpoint(handle, "app", ++version) != PERDURE_OK) return 2;
    if (version % kRound == 0 && perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, 60) != PERDURE_OK) return 3;
  }
  return 0;
}

TEST_P(Leaks, AThousandCheckpointsLeaveNothing) {
  RunOptions run;
  run.ranks = 1;
  auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options(""));
    std::vector<std::uint64_t> words(500);
    perdure_protect(handle, 1, words.data(), sizeof(std::uint64_t), words.size());
    std::int64_t version = 0;
    if (int failed = checkpoint_up_to(handle, version, kLast / 5)) return failed;
    const int engine = engine_pid(path());
    const Snapshot before = snapshot(handle, path(), engine);
    if (int failed = checkpoint_up_to(handle, version, kLast)) return failed;
    const Snapshot after = snapshot(handle, path(), engine);
    if (perdure_close(&handle) != PERDURE_OK) return 4;
    return judge(before, after) == 0 ? 0 : 5;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(path());
  EXPECT_EQ(node_directories_in_the_end(path()), std::set<std::string>());
  expect_clean_store(path() + "/store", "app", {kLast - 1, kLast});
}

TEST_P(Leaks, AHundredHandlesLeaveNothing) {
  RunOptions run;
  run.ranks = 1;
  auto outcome = run_ranks(run, [&](const Rank& rank) {
    std::vector<std::uint64_t> words(500);
    auto cycle = [&](std::int64_t version) {
      perdure_t* handle = rank.open(options(""));
      perdure_protect(handle, 1, words.data(), sizeof(std::uint64_t), words.size());
      const bool good = perdure_checkpoint(handle, "app", version) == PERDURE_OK &&
                        perdure_restore(handle, "app", PERDURE_LATEST) == PERDURE_OK;
      return perdure_close(&handle) == PERDURE_OK && good;
    };
    std::int64_t version = 0;
    const auto cycles = [&](int count) {
      for (int i = 0; i < count; ++i)
        if (!cycle(++version)) return false;
      return true;
    };
    if (!cycles(10)) return 2;
    const int engine = daemon() ? engine_pid(path()) : -1;
    // A new maximum of threads, on a machine under load, makes malloc map more once; a leak keeps growing.
    for (int round = 0; round < 3; ++round) {
      const Usage before = usage_of_this_process(), engine_before = daemon() ? usage_of(engine) : Usage{};
      if (!cycles(unless_sanitized(100, 40))) return 2;
      int bad = judge("rank", before, usage_of_this_process(), kMiB);
      // The engine may still be closing the last connection.
      (void)eventually("the engine has no more descriptors than before",
                       [&] { return usage_of(engine).descriptors <= engine_before.descriptors; });
      if (daemon()) bad += judge("engine", engine_before, usage_of(engine), kMiB);
      if (bad == 0) return 0;
    }
    return 5;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(path());
  EXPECT_EQ(node_directories_in_the_end(path()), std::set<std::string>());
}

// Runs one life of a job: it first stores versions of the life before, then checkpoints until the crash point or
// `last`.
int live(const Rank& rank, const std::string& options, std::int64_t last) {
  perdure_t* handle = rank.open(options);
  std::vector<std::uint64_t> words(500);
  perdure_protect(handle, 1, words.data(), sizeof(std::uint64_t), words.size());
  std::int64_t version = 0;
  const perdure_status found = perdure_latest(handle, "app", &version);
  if (found != PERDURE_OK && found != PERDURE_NOT_FOUND) return 2;
  if (found == PERDURE_OK && perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, 60) != PERDURE_OK) return 3;
  while (version < last)
    if (perdure_checkpoint(handle, "app", ++version) != PERDURE_OK) return 4;
  return perdure_close(&handle) == PERDURE_OK ? 0 : 5;
}

TEST_P(Leaks, AKilledJobLeavesItsNodeDirectoryToTheNextWhichRemovesItInTheEnd) {
  RunOptions run;
  run.ranks = 2;
  std::set<std::string> directories;
  for (int life = 1; life <= 6; ++life) {
    auto outcome = run_ranks(run, [&](const Rank& rank) {
      if (rank.rank == 0) ::setenv("PERDURE_TEST_CRASH", "checkpoint_before_commit:3", 1);
      return live(rank, options(""), 1000);
    });
    EXPECT_EQ(outcome.exit_codes[0], 128 + SIGKILL) << outcome.text();
    const auto found = node_directories(path());
    if (life > 1 && !daemon()) {
      EXPECT_EQ(found, directories) << "every life uses the same";
    }
    directories = found;
    EXPECT_LE(found.size(), 2U) << "one on the node, one for the file tier";
    // Two ranks have a slot of 2 MiB each, for the versions of one life and those that retention keeps.
    const Files files = files_below(path() + "/node");
    EXPECT_LE(files.bytes, 2 * 2 * kMiB * (3 + 3) + kMiB) << "slots of the dead are used again";
    stop_daemons(path());
  }
  auto outcome = run_ranks(run, [&](const Rank& rank) { return live(rank, options(""), 20); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(path());
  EXPECT_EQ(node_directories_in_the_end(path()), std::set<std::string>());
}

// Whatever the checkpoint's size, the library's own memory stays small: capture, flush and restore work in pieces.
TEST_P(Leaks, TheLibrarysOwnMemoryOutsideTheArenaIsBounded) {
  RunOptions run;
  run.ranks = 1;
  auto outcome = run_ranks(run, [&](const Rank& rank) {
    std::vector<std::uint64_t> words(64 * kMiB / sizeof(std::uint64_t), 42);
    const std::uint64_t begun = usage_of(::getpid()).anonymous_bytes;
    PeakMemory peak(::getpid());
    perdure_t* handle = rank.open(options("chunk_bytes=16MiB;tier.memory.max_bytes=160MiB"));
    const int engine = engine_pid(path());
    PeakMemory engine_peak(engine);
    perdure_protect(handle, 1, words.data(), sizeof(std::uint64_t), words.size());
    for (std::int64_t version = 1; version <= 3; ++version)
      if (perdure_checkpoint(handle, "app", version) != PERDURE_OK) return 2;
    if (perdure_wait(handle, "app", 3, PERDURE_LEVEL_STORE, 60) != PERDURE_OK) return 3;
    if (perdure_restore(handle, "app", 3) != PERDURE_OK) return 4;
    if (perdure_restore(handle, "app", 2) != PERDURE_OK) return 5;
    if (perdure_close(&handle) != PERDURE_OK) return 6;
    const std::uint64_t own = peak.stop() - begun, engines = engine_peak.stop();
    const std::uint64_t bound = kMemoryIsMeasurable ? 16 * kMiB : ~std::uint64_t{0};
    if (own > bound) return 7 + 0 * complain("own memory", bound, own);
    if (daemon() && engines > bound) return 8 + 0 * complain("memory of perdured", bound, engines);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(path());
}

}  // namespace
