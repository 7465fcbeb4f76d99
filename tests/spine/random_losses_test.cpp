// Tests random jobs with random schemes and groups that are killed at random steps, lose random nodes, and go on
// elsewhere. A version that was at level node comes back as long as the scheme promises it, and all restored data is
// right. A refused restore gives the reason and spoils no other version. PERDURE_TEST_SEEDS=100-200 takes these seeds
// instead of the few of every day. PERDURE_TEST_TELL=1 prints every life.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "node_directories.hpp"
#include "random_job.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr std::uint64_t kSteps = 1000;  // step = life * kSteps + version, so that the content tells its writer
constexpr int kLives = 6;

/// Records the results of the ranks in one life.
struct Account {
  std::array<std::atomic<std::int64_t>, 16> restored{};  ///< step by rank; 0: nothing, and the reason was given
  std::atomic<std::uint64_t> is_protected = 0;           ///< the newest step that reached level node
};

perdure_status tried(const std::function<perdure_status()>& call) {
  perdure_status status = call();
  for (int tries = 0; tries < 50 && (status == PERDURE_UNAVAILABLE || status == PERDURE_PEER_FAILED); ++tries)
    status = call();
  return status;
}

int wait_for_node(perdure_t* handle, std::uint64_t step, Account& account) {
  const auto version = static_cast<std::int64_t>(step % kSteps);
  const perdure_status reached = perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, 60);
  if (reached != PERDURE_OK) std::fprintf(stderr, "%s", all_reports(handle).c_str());
  REQUIRE_STATUS(PERDURE_OK, handle, reached);
  perdure_level level{};
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", version, &level));
  REQUIRE(level == PERDURE_LEVEL_NODE);
  account.is_protected = step;
  return 0;
}

struct Circumstances {
  std::uint64_t number = 0;  ///< of the life
  bool anew = false;         ///< there may be nothing to restore
  bool in_group = false;
};

// Runs one rank's life, which ends by SIGKILL if it was not killed before.
int live_randomly(const Rank& rank, const std::string& options, const Life& life, const Circumstances& now,
                  Account& account) {
  if (rank.rank == life.victim && !life.crash.empty()) ::setenv("PERDURE_TEST_CRASH", life.crash.c_str(), 1);
  perdure_t* handle = rank.open(options);
  State state(rank.rank, 5000 + static_cast<std::size_t>(rank.rank * 7919) % 30000);
  state.protect(handle);
  const perdure_status restored = tried([&] { return perdure_restore(handle, "app", PERDURE_LATEST); });
  const std::string why = perdure_error_text(handle);
  // Without a version, or with parts only, the remaining nodes never allow a first start if a version was promised.
  REQUIRE(restored == PERDURE_OK || restored == PERDURE_NOT_FOUND || restored == PERDURE_INCOMPLETE);
  REQUIRE(restored != PERDURE_NOT_FOUND || why.find("there is no checkpoint of it") != std::string::npos);
  REQUIRE(restored != PERDURE_INCOMPLETE || why.find("no version is whole") != std::string::npos);
  REQUIRE(state.right() && (restored == PERDURE_OK) == (state.step != 0));
  account.restored[static_cast<std::size_t>(rank.rank)] = static_cast<std::int64_t>(state.step);
  rank.barrier();
  for (int r = 0; r < rank.size; ++r)
    REQUIRE(account.restored[static_cast<std::size_t>(r)] == account.restored[0]);  // all from one attempt
  const bool refused = restored != PERDURE_OK && !now.anew;
  if (!refused && state.step != 0 && now.in_group && life.waits_for_restored)
    if (const int wrong = wait_for_node(handle, state.step, account)) return wrong;
  for (const bool waits : refused ? std::vector<bool>() : life.checkpoints) {
    state.advance(now.number * kSteps + state.step % kSteps + 1);
    const auto version = static_cast<std::int64_t>(state.step % kSteps);
    REQUIRE_STATUS(PERDURE_OK, handle, tried([&] { return perdure_checkpoint(handle, "app", version); }));
    if (waits && now.in_group)
      if (const int wrong = wait_for_node(handle, state.step, account)) return wrong;
  }
  rank.barrier();
  ::raise(SIGKILL);
  return 0;
}

/// Runs all lives of one seed.
class Story {
 public:
  explicit Story(unsigned seed) : job_(seed) {}
  void live(std::uint64_t number);
  void lose();
  const std::string& told() const { return told_; }
  ~Story() { kill_engines(directory_.path()); }

 private:
  std::string options() const {
    return options_in(directory_.path(), job_.daemon() ? "daemon" : "embedded",
                      "engine.idle_exit=60;" + job_.options() + RandomJob::options(life_));
  }
  std::string text(std::uint64_t number) const {
    return "life " + std::to_string(number) +
           (life_.crash.empty() ? "" : ", rank " + std::to_string(life_.victim) + " dies at " + life_.crash) + ": " +
           options();
  }
  void judge(std::int64_t restored);

  RandomJob job_;
  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
  Life life_;
  std::string told_;
  bool begun_ = false;
  // The newest step that was at level node, its nodes, and which of them are intact.
  std::uint64_t safe_ = 0;
  std::vector<int> safe_on_;
  std::set<int> intact_;
};

void Story::live(std::uint64_t number) {
  life_ = job_.next_life();
  SCOPED_TRACE(text(number));
  told_ = text(number);
  SharedMemory<Account> account;
  for (auto& step : account->restored) step = -1;
  RunOptions run;
  run.ranks = job_.ranks();
  run.timeout_s = 200;
  run.in_child = [&](int) {
    ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 1);  // fewer buffers of the provider
    ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + directory_.path() + "/store:ENOSPC").c_str(), 1);
  };
  const Circumstances now{number, !begun_, !job_.groups(life_.nodes).empty()};
  const auto outcome =
      run_ranks(run, [&](const Rank& rank) { return live_randomly(rank, options(), life_, now, *account); });
  kill_engines(directory_.path());
  ASSERT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
  told_ +=
      "; restored " + std::to_string(account->restored[0]) + ", protected " + std::to_string(account->is_protected);
  if (account->restored[0] >= 0) judge(account->restored[0]);
  if (account->is_protected != 0) {
    safe_ = account->is_protected;
    safe_on_ = life_.nodes;
    intact_ = {life_.nodes.begin(), life_.nodes.end()};
  }
  begun_ = begun_ || safe_ != 0;
}

void Story::judge(std::int64_t restored) {
  const bool newer = static_cast<std::uint64_t>(restored) % kSteps >= safe_ % kSteps;
  std::set<int> left;
  for (const int node : life_.nodes)
    if (intact_.contains(node)) left.insert(node);
  if (safe_ != 0 && job_.survives(safe_on_, left)) {
    EXPECT_TRUE(newer) << "restored " << restored << ", but all nodes had protected " << safe_;
  }
  // From here on the job continues from an older version; or it starts anew, because the data is lost for good.
  if (!newer && (restored != 0 || !job_.survives(safe_on_, intact_))) safe_ = 0;
  begun_ = safe_ != 0;
}

void Story::lose() {
  const auto lost = job_.next_losses(life_);
  told_ += "; lost";
  for (const int node : lost) {
    told_ += " " + std::to_string(node);
    (void)lose_node(directory_.path(), options(), node);
    intact_.erase(node);
  }
  job_.replace(lost);
}

Seeds seeds() { return chosen_seeds().value_or(Seeds{1, unless_sanitized(5U, 2U)}); }

class RandomLosses : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLosses, ::testing::Range(seeds().first, seeds().last + 1),
                         [](const auto& seed) { return std::to_string(seed.param); });

TEST_P(RandomLosses, WhatWasProtectedComesBackAndTheRestIsRefused) {
  Story story(GetParam());
  for (std::uint64_t life = 1; life <= kLives && !HasFailure(); ++life) {
    story.live(life);
    story.lose();
    if (std::getenv("PERDURE_TEST_TELL") != nullptr) std::fprintf(stderr, "%s\n", story.told().c_str());
  }
}

}  // namespace
