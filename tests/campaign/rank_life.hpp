#pragma once
// Runs the acts of one rank of a launch, and records their results in memory that outlives the rank.
#include <array>
#include <atomic>

#include "campaign/model.hpp"
#include "ranks.hpp"

namespace perdure::campaign {

inline constexpr std::size_t kMostRanks = 16, kMostActs = 16;

/// An Answer in shared memory.
struct Entry {
  std::atomic<bool> begun = false, done = false;
  int status = 0;
  std::uint64_t step = 0;
  std::int64_t version = -1;
  bool right = true;
  bool touched = false;
  int level = 0;
  std::array<char, 300> text{};
};

struct Board {
  std::array<std::array<Entry, kMostActs>, kMostRanks> entries{};
  std::atomic<int> running = 0;             ///< ranks that have completed their first act
  std::atomic<bool> rival_pending = false;  ///< the ranks wait for the rival's end before they go on
  std::atomic<bool> open_failed = false;
  std::array<char, 300> why_not_opened{};
};

/// Returns the size in words of a rank's state if the job has no arrays.
std::size_t words_of(const Job& job, int rank);

/// Parameters of a rank's life besides its scenario.
struct LifeOptions {
  std::string options;  ///< of the handle
  bool spoilt = false;  ///< changes one array element that rank 0 restores to another step
};

/// Runs all acts of the launch. Returns 0; does not return if the launch ends by SIGKILL.
int live(const test_support::Rank& rank, const LifeOptions& options, const Scenario& scenario, std::size_t number,
         Board& board);

}  // namespace perdure::campaign
