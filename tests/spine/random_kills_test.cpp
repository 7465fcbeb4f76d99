// Tests kill -9 of one rank, of all ranks, of the engines, and of both, at random moments. A version that every rank
// was told is captured must exist afterwards, with the right content. The moments follow from the seed and the
// machine's speed; the guarantee must hold for every moment.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <random>

#include "damage.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

constexpr int kRanks = 4;
constexpr std::size_t kWords = 24000;  // two chunks

struct Ledger {
  std::array<std::atomic<std::uint64_t>, kRanks> captured{};  ///< the newest version that the rank was told is captured
  std::atomic<int> running = 0;                               ///< ranks that have completed their restore
  std::uint64_t captured_by_all() const {
    std::uint64_t least = ~std::uint64_t{0};
    for (const auto& version : captured) least = std::min(least, version.load());
    return least;
  }
};

enum class Victims { one_rank, all_ranks, engines, everything };

void kill_victims(Victims victims, const std::vector<int>& pids, const std::string& directory, std::mt19937& random) {
  if (victims == Victims::engines || victims == Victims::everything) kill_engines(directory);
  if (victims == Victims::one_rank) ::kill(pids[random() % pids.size()], SIGKILL);
  if (victims == Victims::all_ranks || victims == Victims::everything)
    for (int pid : pids) ::kill(pid, SIGKILL);
}

template <class Call>
perdure_status repeat(Call call) {
  perdure_status status = call();
  for (int tries = 0; tries < 50 && (status == PERDURE_UNAVAILABLE || status == PERDURE_PEER_FAILED); ++tries)
    status = call();
  return status;
}

// Waits until the ranks were told that it is captured. On write, the state is overwritten meanwhile, and a version lost
// with its engine is captured again.
int capture(perdure_t* handle, State& state, bool on_write) {
  const auto version = static_cast<std::int64_t>(state.step);
  for (int tries = 0;; ++tries) {
    const perdure_status status = repeat([&] { return perdure_checkpoint(handle, "app", version); });
    if (status == PERDURE_EXISTS) break;  // captured: the lost engine had all it needed
    REQUIRE_STATUS(PERDURE_OK, handle, status);
    if (!on_write) return 0;
    std::fill(state.words.begin(), state.words.end(), ~std::uint64_t{0});
    const perdure_status waited =
        repeat([&] { return perdure_wait(handle, "app", version, PERDURE_LEVEL_PROCESS, 30); });
    if (waited == PERDURE_OK) break;
    if (tries == 50 || (waited != PERDURE_UNAVAILABLE && waited != PERDURE_PEER_FAILED))
      REQUIRE_STATUS(PERDURE_OK, handle, waited);
    state.advance(state.step);
  }
  state.advance(state.step);
  return 0;
}

// Restores at least the version that the ledger requires, and steps on until it is killed; `last` ends it in order.
int live(const Rank& rank, const std::string& options, Ledger& ledger, std::uint64_t last) {
  perdure_t* handle = nullptr;
  char message[500] = "";
  // An engine that is killed while it starts is a retryable error.
  for (int tries = 0; handle == nullptr && tries < 20; ++tries)
    (void)perdure_open_communicator(&rank.communicator, options.c_str(), &handle, message, sizeof message);
  if (handle == nullptr) std::fprintf(stderr, "rank %d: %s\n", rank.rank, message);
  REQUIRE(handle != nullptr);
  const std::uint64_t expected = ledger.captured_by_all();
  State state(rank.rank, kWords);
  state.protect(handle);
  const perdure_status restored = repeat([&] { return perdure_restore(handle, "app", PERDURE_LATEST); });
  REQUIRE(restored == PERDURE_OK || (restored == PERDURE_NOT_FOUND && expected == 0));
  REQUIRE(state.right());
  REQUIRE(state.step >= expected);
  rank.barrier();
  ledger.captured[static_cast<std::size_t>(rank.rank)] = state.step;
  ++ledger.running;
  while (state.step < last) {
    state.advance(state.step + 1);
    REQUIRE(capture(handle, state, options.find("capture.mode=cow") != std::string::npos) == 0);
    ledger.captured[static_cast<std::size_t>(rank.rank)] = state.step;
  }
  REQUIRE_STATUS(PERDURE_OK, handle, repeat([&] {
                   return perdure_wait(handle, "app", static_cast<std::int64_t>(last), PERDURE_LEVEL_STORE, 30);
                 }));
  (void)perdure_close(&handle);
  return 0;
}

struct Lives {
  const char* name;
  const char* mode;
  const char* tiers;
  unsigned seed;
  int rounds;
};
void PrintTo(const Lives& lives, std::ostream* out) { *out << lives.name; }

// A node's part of a capture has four chunks. If there is room for fewer, chunks move to the store during the capture,
// which is then in both places.
constexpr const char* kOneSlot = ";tier.order=memory;tier.memory.max_bytes=2MiB";
constexpr const char* kThreeSlots = ";tier.memory.max_bytes=4MiB;tier.file.max_bytes=128KiB";

class RandomKills : public ::testing::TestWithParam<Lives> {};
INSTANTIATE_TEST_SUITE_P(Every, RandomKills,
                         ::testing::Values(Lives{"embedded", "embedded", "", 28, 30},
                                           Lives{"daemon", "daemon", "", 6, 30},
                                           Lives{"embedded_one_slot", "embedded", kOneSlot, 3, 15},
                                           Lives{"embedded_three_slots", "embedded", kThreeSlots, 14, 15},
                                           Lives{"daemon_one_slot", "daemon", kOneSlot, 15, 15},
                                           Lives{"daemon_three_slots", "daemon", kThreeSlots, 92, 15},
                                           Lives{"embedded_on_write", "embedded_on_write", "", 41, 20},
                                           Lives{"daemon_on_write", "daemon_on_write", "", 42, 20}),
                         [](const auto& lives) { return std::string(lives.param.name); });

TEST_P(RandomKills, NeverLoseWhatEveryRankWasToldIsCaptured) {
  if (lacks_protection(GetParam().mode)) GTEST_SKIP() << kNoProtection;
  const bool daemon = std::string(GetParam().mode).starts_with("daemon");
  TemporaryDirectory directory;
  const std::string options =
      options_in(directory.path(), GetParam().mode, std::string("node.ranks_per_node=2") + GetParam().tiers);
  SharedMemory<Ledger> ledger;
  const auto campaign = chosen_seeds();
  std::mt19937 random(GetParam().seed + (campaign ? campaign->first : 0));
  const int rounds = unless_sanitized(GetParam().rounds, GetParam().rounds / 3) * (campaign ? 5 : 1);
  for (int round = 0; round < rounds; ++round) {
    const auto victims = static_cast<Victims>(random() % 4);
    const std::uint64_t pause_ns = (random() % 120) * 1'000'000;
    const bool early = random() % 4 == 0;  // does not wait for the restore: kills hit opening and restoring, too
    RunOptions run;
    run.ranks = kRanks;
    ledger->running = 0;
    run.meanwhile = [&](const std::vector<int>& pids) {
      EXPECT_TRUE(early || eventually("all ranks run", [&] { return ledger->running >= kRanks; }));
      os::sleep_ns(pause_ns);  // wait: killed at a drawn moment
      kill_victims(victims, pids, directory.path(), random);
      if (!daemon || victims != Victims::engines) return;
      // The application goes on without its engines and gets new ones. Then it ends with everything else.
      os::sleep_ns(150'000'000);  // wait: it works with the new ones for a while
      kill_victims(Victims::everything, pids, directory.path(), random);
    };
    if (!daemon && victims == Victims::engines) continue;  // embedded engines die with their ranks
    const auto outcome =
        run_ranks(run, [&](const Rank& rank) { return live(rank, options, *ledger, ~std::uint64_t{0} >> 1); });
    for (int code : outcome.exit_codes) ASSERT_EQ(code, 128 + SIGKILL) << "round " << round << ": " << outcome.text();
  }
  const std::uint64_t last = ledger->captured_by_all() + 3;
  const auto outcome = run_ranks({}, [&](const Rank& rank) { return live(rank, options, *ledger, last); });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
  EXPECT_FALSE(fs::exists(directory.path() + "/store/.quarantine"));
}

}  // namespace
