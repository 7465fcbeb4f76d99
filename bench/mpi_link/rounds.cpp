#include "rounds.hpp"

#include <algorithm>

namespace perdure::mpi_link {

std::vector<Round> parallel_rounds(int ranks) {
  if (ranks < 2) return {};
  const int seats = ranks + ranks % 2;  // with an odd number of ranks, the one opposite the extra seat rests
  std::vector<Round> rounds;
  for (int turn = 0; turn < seats - 1; ++turn) {
    // The last seat keeps its rank; all others move on by one each turn.
    const auto at = [&](int seat) { return seat == seats - 1 ? seat : (seat + turn) % (seats - 1); };
    Round round;
    for (int seat = 0; seat < seats / 2; ++seat) {
      const auto [lower, upper] = std::minmax({at(seat), at(seats - 1 - seat)});
      if (upper < ranks) round.emplace_back(lower, upper);
    }
    rounds.push_back(round);
  }
  return rounds;
}

std::vector<Round> serial_rounds(int ranks) {
  std::vector<Round> rounds;
  for (int lower = 0; lower < ranks; ++lower)
    for (int upper = lower + 1; upper < ranks; ++upper) rounds.push_back({{lower, upper}});
  return rounds;
}

int peer_of(int rank, const Round& round) {
  for (const auto& [lower, upper] : round) {
    if (rank == lower) return upper;
    if (rank == upper) return lower;
  }
  return -1;
}

}  // namespace perdure::mpi_link
