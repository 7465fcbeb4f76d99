#include "campaign/rank_life.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>

#include "campaign/rank_state.hpp"
#include "damage.hpp"

namespace perdure::campaign {
namespace {

using test_support::Rank;
using test_support::State;

constexpr int kTries = 12;
constexpr double kRepeating_s = 10;
constexpr int kRivalPatience = 15'000;  // of 2 ms
constexpr useconds_t kPause_us = 50'000;
constexpr std::uint64_t kNeverCaptured = 500;    // more than acts
constexpr double kPatience_s = 60, kHope_s = 3;  // without failures, and with some

/// Regions of the rank's own.
class OwnRegions : public RankState {
 public:
  OwnRegions(const Job& job, int rank) : state_(rank, words_of(job, rank)) {}
  std::string protect(perdure_t* handle, std::size_t) override {
    state_.protect(handle);
    return "";
  }
  void advance(std::uint64_t step) override { state_.advance(step); }
  std::uint64_t step() const override { return state_.step; }
  void forget() override { state_.step = 0; }
  bool touched() const override { return state_.step != 0; }
  void came(bool) override {}
  std::string wrong() const override {
    return state_.right() ? "" : "the state is not that of step " + std::to_string(state_.step);
  }

 private:
  State state_;
};

struct Life {
  const Rank& rank;
  const Launch& launch;
  const std::string& name;
  std::size_t number;
  perdure_t* handle;
  std::unique_ptr<RankState> state;
  bool spoilt = false;
  std::int64_t version = 0;  ///< of the state, 0 at a start
};

/// Returns the greatest value of all ranks.
std::uint64_t greatest(const Rank& rank, std::uint64_t mine) {
  rank.communicator.allreduce(rank.communicator.context, &mine, 1, 1);
  return mine;
}

/// Repeats the call on all ranks as long as some rank says that this can help. Engines that start for it must not die
/// of the launch's crash point, too. Sets `again` if the call was repeated.
perdure_status together(Life& life, const std::function<perdure_status()>& call, bool* again = nullptr) {
  const auto begin = std::chrono::steady_clock::now();
  perdure_status status = call();
  for (int tries = 1; tries < kTries; ++tries) {
    const bool passes = status != PERDURE_OK && perdure_error_retryable(life.handle) == 1;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    // A rank that has waited for room in vain does not wait again.
    const bool in_vain = status == PERDURE_TIMEOUT || status == PERDURE_NO_SPACE || took.count() > kRepeating_s;
    if (greatest(life.rank, passes ? 1 : 0) == 0 || greatest(life.rank, in_vain ? 1 : 0) == 1) break;
    ::unsetenv("PERDURE_TEST_CRASH");
    ::usleep(kPause_us);  // wait: before all call again, as often as each other
    if (again != nullptr) *again = true;
    status = call();
  }
  return status;
}

perdure_t* open_together(const Rank& rank, const std::string& options, Board& board) {
  perdure_t* handle = nullptr;
  for (int tries = 0; tries < kTries; ++tries) {
    std::array<char, 300> message{};
    (void)perdure_open_communicator(&rank.communicator, options.c_str(), &handle, message.data(), message.size());
    if (handle != nullptr) return handle;
    if (rank.rank == 0) board.why_not_opened = message;
    ::unsetenv("PERDURE_TEST_CRASH");
    ::usleep(kPause_us);  // wait: before all call again, as often as each other
  }
  board.open_failed = true;
  return nullptr;
}

perdure_status restored(Life& life, std::int64_t version, Entry& entry) {
  const auto status = together(life, [&] {
    life.state->forget();
    return perdure_restore(life.handle, life.name.c_str(), version);
  });
  entry.touched = life.state->touched();
  if (status != PERDURE_OK) return status;
  life.state->came(life.spoilt);
  perdure_progress progress{};
  (void)perdure_get_progress(life.handle, &progress);
  life.version = progress.restored_version;
  return status;
}

perdure_status go_back(Life& life, Entry& entry) {
  const std::uint64_t step = life.state->step();
  const auto status = restored(life, std::max<std::int64_t>(1, life.version - 2), entry);
  if (status != PERDURE_OK) life.state->advance(step);  // the restore may have written parts of another state
  return status;
}

/// Captures, and waits until all data is copied. If the call copies in the background, the program continues at once
/// and overwrites all its memory. The version must hold the content at the call all the same.
perdure_status capture(Life& life, std::int64_t version) {
  auto status = perdure_checkpoint(life.handle, life.name.c_str(), version);
  if (life.launch.capture == "copy" || greatest(life.rank, status == PERDURE_OK ? 0 : 1) == 1) return status;
  const std::uint64_t step = life.state->step();
  life.state->advance(step + kNeverCaptured);
  status = perdure_wait(life.handle, life.name.c_str(), version, PERDURE_LEVEL_PROCESS, kPatience_s);
  life.state->advance(step);
  return status;
}

perdure_status captured(Life& life, std::int64_t version) {
  bool again = false;
  auto status = together(
      life, [&] { return capture(life, version); }, &again);
  // The first call may already have made the version: then the other ranks are told that some rank failed.
  const bool exists = greatest(life.rank, status == PERDURE_EXISTS ? 1 : 0) == 1;
  if (again && exists) status = PERDURE_OK;
  if (status == PERDURE_OK) life.version = version;
  return status;
}

perdure_status waited(Life& life, perdure_level level, Entry& entry) {
  const bool hopeless = level == PERDURE_LEVEL_STORE && life.launch.store != "works";
  const auto status = together(life, [&] {
    return perdure_wait(life.handle, life.name.c_str(), life.version, level,
                        hopeless                      ? 0.2
                        : is_undisturbed(life.launch) ? kPatience_s
                                                      : kHope_s);
  });
  perdure_level reached = PERDURE_LEVEL_NONE;
  if (status == PERDURE_OK) (void)perdure_level_reached(life.handle, life.name.c_str(), life.version, &reached);
  entry.level = static_cast<int>(reached);
  return status;
}

perdure_status act(Life& life, std::size_t number, Entry& entry) {
  const Act what = life.launch.acts[number];
  switch (what) {
    case Act::restore:
      return restored(life, PERDURE_LATEST, entry);
    case Act::back:
      return go_back(life, entry);
    case Act::checkpoint:
    case Act::rewrite:
      return captured(life, entry.version);
    case Act::node:
      return waited(life, PERDURE_LEVEL_NODE, entry);
    case Act::store:
      return waited(life, PERDURE_LEVEL_STORE, entry);
    case Act::look:
      return together(life, [&] { return perdure_latest(life.handle, life.name.c_str(), &entry.version); });
    case Act::close:
      return perdure_close(&life.handle);
  }
  return PERDURE_INTERNAL;
}

bool makes_sense(const Life& life, Act what) {
  const bool about_a_version = what == Act::back || what == Act::rewrite || what == Act::node || what == Act::store;
  return !about_a_version || life.version > (what == Act::back ? 1 : 0);
}

/// Every call accepts parts of arrays, so a refusal is a defect of the driver.
bool protect(Life& life, std::size_t act) {
  const auto why = life.state->protect(life.handle, act);
  if (!why.empty()) std::fprintf(stderr, "rank %d: protect: %s\n", life.rank.rank, why.c_str());
  return why.empty();
}

/// Records what is known before the call, in case the rank dies in it.
bool begin(Life& life, Act what, std::size_t number, Entry& entry) {
  const bool writes = what == Act::checkpoint || what == Act::rewrite;
  const bool moves = life.launch.moves && number > 0 && (writes || what == Act::restore || what == Act::back);
  if (moves && !protect(life, number)) return false;
  if (writes) {
    life.state->advance(step_of(life.number, number));
    entry.version = life.version + (what == Act::checkpoint ? 1 : 0);
  }
  return entry.begun = true;
}

void note(Life& life, Act what, perdure_status status, Entry& entry) {
  const std::string wrong = status == PERDURE_OK ? life.state->wrong() : "";
  entry.status = status;
  entry.step = life.state->step();
  entry.right = wrong.empty();
  if (what == Act::restore || what == Act::back) entry.version = life.version;
  const char* const text = status == PERDURE_OK ? wrong.c_str() : perdure_error_text(life.handle);
  std::snprintf(entry.text.data(), entry.text.size(), "%s", text);
  entry.done = true;
}

}  // namespace

std::size_t words_of(const Job& job, int rank) {
  const std::size_t some = static_cast<std::size_t>(rank) * 7919;
  return job.small ? 100 + some % 1000 : 5000 + some % 30000;
}

int live(const Rank& rank, const LifeOptions& options, const Scenario& scenario, std::size_t number, Board& board) {
  const Launch& launch = scenario.launches[number];
  std::unique_ptr<RankState> state;
  if (scenario.job_of(number).arrays == 0)
    state = std::make_unique<OwnRegions>(scenario.job_of(number), rank.rank);
  else
    state = arrays_of(scenario, number, rank.rank);
  Life life{rank,
            launch,
            scenario.job_of(number).name,
            number,
            open_together(rank, options.options, board),
            std::move(state),
            options.spoilt && rank.rank == 0};
  if (life.handle == nullptr) return 0;
  if (!protect(life, 0)) return 1;
  for (std::size_t i = 0; i < launch.acts.size(); ++i) {
    const Act what = launch.acts[i];
    if (!makes_sense(life, what)) continue;
    Entry& entry = board.entries[static_cast<std::size_t>(rank.rank)][i];
    if (!begin(life, what, i, entry)) return 1;
    const perdure_status status = act(life, i, entry);
    note(life, what, status, entry);
    if (i == 0) ++board.running;
    for (int waited = 0; i == 0 && board.rival_pending && waited < kRivalPatience; ++waited)
      ::usleep(2000);  // wait: the scenario goes on without a rival that takes longer
    if (what == Act::close) return 0;
    // A rank that cannot restore stops, unless there is no version.
    const bool refused = what == Act::restore && status != PERDURE_OK && status != PERDURE_NOT_FOUND;
    if (greatest(rank, refused ? 1 : 0) == 1) break;
    if (what == Act::restore && status != PERDURE_OK) life.state->advance(0);
  }
  rank.barrier();
  ::raise(SIGKILL);
  return 0;
}

}  // namespace perdure::campaign
