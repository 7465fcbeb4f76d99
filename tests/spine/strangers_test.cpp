// Tests an unauthenticated peer that connects to the ports of a job's engines again and again. The job goes on, and
// keeps its descriptors.
#include "support/strangers.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "node_loss.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace perdure::test_support;

constexpr rlim_t kDescriptorsOfAProcess = 256;
constexpr std::size_t kPlacesOfStrangers = kDescriptorsOfAProcess / 8,
                      kComeAndGo = 24;  // slots, segments and clients come and go

class StrangersAtThePorts : public NodeLoss {};
std::vector<Loss> nodes_with_ports() {
  const Loss embedded{"embedded", "embedded", "xor", 3, 1, {}, true, ""},
      daemon{"daemon", "daemon", "xor", 3, 1, {}, true, ""};
  return unless_sanitized<std::vector<Loss>>({embedded, daemon}, {embedded});
}
INSTANTIATE_TEST_SUITE_P(Modes, StrangersAtThePorts, ::testing::ValuesIn(nodes_with_ports()),
                         [](const auto& param) { return param.param.name; });

struct Flood {
  std::atomic<bool> flooded{false}, done{false};
  std::atomic<int> ready{0};
};

/// Returns the largest number of open descriptors among these processes.
std::size_t most_descriptors(const std::vector<int>& pids) {
  std::size_t most = 0;
  for (const int pid : pids) most = std::max(most, descriptors_of(pid));
  return most;
}

TEST_P(StrangersAtThePorts, StopNoCheckpointAndTakeFewDescriptors) {
  SharedMemory<Flood> shared;
  RunOptions run = without_store();
  run.timeout_s = 180;
  run.in_child = [before = run.in_child](int rank) {
    before(rank);
    const rlimit low{kDescriptorsOfAProcess, kDescriptorsOfAProcess};
    if (::setrlimit(RLIMIT_NOFILE, &low) != 0) std::abort();
  };
  std::size_t calm = 0, most = 0, turned_away = 0;
  run.meanwhile = [&](const std::vector<int>& ranks) {
    const auto goes_on = [&] { return std::none_of(ranks.begin(), ranks.end(), is_over); };
    EXPECT_TRUE(eventually("all ranks are ready", [&] { return !goes_on() || shared->ready >= 3; }));
    const std::vector<int> engines = loss().mode == "daemon" ? engine_pids(directory_.path()) : ranks;
    std::vector<sockaddr_in> ports;
    for (const int pid : engines)
      for (const auto& port : listeners_of(pid)) ports.push_back(port);
    EXPECT_EQ(ports.size(), 3U);
    calm = most_descriptors(engines);
    const Strangers strangers(ports, 400);
    EXPECT_TRUE(
        eventually("3000 strangers are turned away", [&] { return !goes_on() || strangers.turned_away() >= 3000; }));
    shared->flooded = true;
    while (goes_on() && !shared->done) {
      most = std::max(most, most_descriptors(engines));
      ::usleep(1000);  // wait: it looks again as long as the ranks work
    }
    turned_away = strangers.turned_away();
  };
  expect_done(run, "", [&](const Rank& rank, perdure_t* handle, State& state) {
    REQUIRE(checkpoint_to_node(handle, state, 1) == 0);
    ++shared->ready;
    REQUIRE(eventually("the strangers are there", [&] { return shared->flooded.load(); }));
    for (std::uint64_t step = 2; step <= 12; ++step) REQUIRE(checkpoint_to_node(handle, state, step) == 0);
    // Unauthenticated peers may use less than half of the descriptors that are left for the program.
    std::vector<int> files;
    for (int i = 0; i < 80; ++i) files.push_back(::dup(0));
    const bool all = std::count(files.begin(), files.end(), -1) == 0;
    for (const int file : files) ::close(file);
    REQUIRE(all);
    rank.barrier();
    shared->done = true;
    return 0;
  });
  EXPECT_GE(turned_away, 3000U);
  EXPECT_LE(most, calm + kPlacesOfStrangers + kComeAndGo + 80);
}

}  // namespace
