// Tests two hundred losses of a node with all its data, each replaced by an empty node. Engines and their host
// processes must use no more resources afterwards than before.
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "node_directories.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"
#include "support/thread_group.hpp"
#include "usage.hpp"

namespace {

using namespace perdure::test_support;

constexpr int kNodes = 3;
constexpr std::uint64_t kMemorySlack = 2U << 20;

/// Ranks are threads of one process. In mode embedded it hosts the engines of all nodes.
class Replacements : public ::testing::TestWithParam<const char*> {
 protected:
  bool daemon() const { return std::string(GetParam()) == "daemon"; }
  std::string options() const {
    std::string numbers = std::to_string(nodes_[0]);
    for (std::size_t i = 1; i < nodes_.size(); ++i) numbers += "," + std::to_string(nodes_[i]);
    return options_in(directory_.path(), GetParam(),
                      "redundancy.scheme=xor;node.ranks_per_node=1;node.numbers=" + numbers +
                          ";engine.idle_exit=600;engine.drain_timeout=0.001;tier.memory.max_bytes=16MiB");
  }
  /// A perdured takes a while to start and to be replaced. A campaign also finds leaks of a third of the bytes.
  int rounds() const { return daemon() ? unless_sanitized(40, 12) : unless_sanitized(campaign() ? 200 : 60, 20); }
  bool launch(std::int64_t version) const;
  void replace(std::size_t which);
  int engine_of(int node) const;
  bool stays_bounded(const char* whose, const Usage& before, const std::function<Usage()>& look) const;
  static bool is_bounded(const Usage& before, const Usage& after);
  int replace_again_and_again();
  void TearDown() override { kill_engines(directory_.path()); }

  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
  std::vector<int> nodes_{0, 1, 2};
};
INSTANTIATE_TEST_SUITE_P(Modes, Replacements, ::testing::Values("embedded", "daemon"),
                         [](const auto& mode) { return std::string(mode.param); });

int live_as_thread(const perdure_communicator& communicator, const std::string& options, std::int64_t version) {
  perdure_t* handle = nullptr;
  char message[500] = "";
  const auto opened = perdure_open_communicator(&communicator, options.c_str(), &handle, message, sizeof message);
  if (opened != PERDURE_OK) std::fprintf(stderr, "rank %d: %s\n", communicator.rank, message);
  REQUIRE(opened == PERDURE_OK);
  State state(communicator.rank, 5000);
  state.protect(handle);
  REQUIRE_STATUS(version == 1 ? PERDURE_NOT_FOUND : PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
  REQUIRE(state.step + 1 == static_cast<std::uint64_t>(version) && state.right());
  state.advance(static_cast<std::uint64_t>(version));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", version));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 60));
  // The store accepts nothing, so only this test retires old versions. Not every node has a part of a lost node's
  // versions.
  const auto retired = version < 3 ? PERDURE_OK : perdure_retire(handle, "app", version - 2);
  REQUIRE(retired == PERDURE_OK || retired == PERDURE_NOT_FOUND);
  const auto closed = perdure_close(&handle);  // versions that the store rejects stay on the nodes
  REQUIRE(closed == PERDURE_OK || closed == PERDURE_UNAVAILABLE || closed == PERDURE_PEER_FAILED);
  return 0;
}

bool Replacements::launch(std::int64_t version) const {
  ThreadGroup ranks(kNodes);
  std::atomic<int> wrong = 0;
  const std::string all = options();
  ranks.run([&](const perdure_communicator& communicator) {
    if (live_as_thread(communicator, all, version) == 0) return;
    ++wrong;
    ranks.break_down();
  });
  return wrong == 0;
}

int Replacements::engine_of(int node) const {
  perdure::config::Config config;
  (void)config.set_all(options(), perdure::config::Origin::program);
  const std::string key = perdure::engine::node_key(config, perdure::os::host_name() + "#" + std::to_string(node));
  for (const int pid : engine_pids(directory_.path())) {
    const auto line = read_bytes("/proc/" + std::to_string(pid) + "/cmdline");
    if (std::string(line.begin(), line.end()).find(key) != std::string::npos) return pid;
  }
  return -1;
}

void Replacements::replace(std::size_t which) {
  if (daemon()) {
    const int engine = engine_of(nodes_[which]);
    if (engine > 0) ::kill(engine, SIGKILL);
    EXPECT_TRUE(engine <= 0 || eventually("the node's engine is over", [&] { return is_over(engine); }));
  }
  (void)lose_node(directory_.path(), options(), nodes_[which]);
  nodes_[which] = *std::max_element(nodes_.begin(), nodes_.end()) + 1;
}

// A leak stays; a file or connection that is just in use does not.
bool Replacements::stays_bounded(const char* whose, const Usage& before, const std::function<Usage()>& look) const {
  if (eventually("what it has does not grow", [&] { return is_bounded(before, look()); })) return true;
  const Usage after = look();
  std::fprintf(stderr, "%s: descriptors %zu, %zu; threads %zu, %zu; mappings %zu, %zu; anonymous KiB %lu, %lu\n", whose,
               before.descriptors, after.descriptors, before.threads, after.threads, before.mappings, after.mappings,
               static_cast<unsigned long>(before.anonymous_bytes >> 10),
               static_cast<unsigned long>(after.anonymous_bytes >> 10));
  return false;
}

bool Replacements::is_bounded(const Usage& before, const Usage& after) {
  if (after.descriptors > before.descriptors || after.threads > before.threads) return false;
  if (!kMemoryIsMeasurable) return true;
  return after.mappings <= before.mappings + 16 && after.anonymous_bytes <= before.anonymous_bytes + kMemorySlack;
}

int Replacements::replace_again_and_again() {
  ::mallopt(M_ARENA_MAX, 1);  // otherwise free memory in one of many arenas looks like a leak
  ::setenv("MALLOC_ARENA_MAX", "1", 1);
  ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 1);  // fewer buffers of the provider
  ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory_.path() + "/store:ENOSPC").c_str(), 1);
  Usage process, engine;
  Files files;
  for (int version = 1; version <= rounds(); ++version) {
    REQUIRE(launch(version));
    if (version == rounds() / 4 || version == rounds()) {
      const auto of_engine = [this] { return daemon() ? usage_of(engine_of(0)) : Usage{}; };
      const Files files_now = files_below(directory_.path());
      if (version == rounds()) {
        REQUIRE(stays_bounded("ranks", process, usage_of_this_process));
        REQUIRE(stays_bounded("engine", engine, of_engine));
        REQUIRE(files_now.count <= files.count + 4);
      }
      process = usage_of_this_process();
      engine = of_engine();
      files = files_now;
    }
    const auto turn = static_cast<std::size_t>(version);
    replace(daemon() ? 1 + turn % (kNodes - 1) : turn % kNodes);  // the first perdured is never replaced
  }
  return 0;
}

TEST_P(Replacements, LeaveNothingBehind) {
  RunOptions run;
  run.ranks = 1;
  run.timeout_s = 250;
  const auto outcome = run_ranks(run, [&](const Rank&) { return replace_again_and_again(); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

}  // namespace
