#pragma once
// What a rank of a launch does, and what it was told, in memory that outlives it.
#include <array>
#include <atomic>

#include "campaign/model.hpp"
#include "ranks.hpp"

namespace perdure::campaign {

inline constexpr std::size_t kMostRanks = 16, kMostActs = 16;

/// As Answer, for memory that is shared.
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
  std::atomic<int> running = 0;             ///< ranks that are past their first act
  std::atomic<bool> rival_pending = false;  ///< the ranks wait for its end before they go on
  std::atomic<bool> open_failed = false;
  std::array<char, 300> why_not_opened{};
};

/// Words of a rank's state where it has no arrays.
std::size_t words_of(const Job& job, int rank);

/// What a rank's life is told beside its scenario.
struct LifeOptions {
  std::string options;  ///< of the handle
  bool spoilt = false;  ///< one element of arrays that rank 0 restores is changed into that of another step
};

/// All acts of the launch. Returns 0, or does not return where the launch ends by SIGKILL.
int live(const test_support::Rank& rank, const LifeOptions& options, const Scenario& scenario, std::size_t number,
         Board& board);

}  // namespace perdure::campaign
