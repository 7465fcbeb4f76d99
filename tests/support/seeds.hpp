#pragma once
// Chooses seeds for tests of random lives and programs: few every day, more in a campaign (tools/campaign).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "support/sanitized.hpp"

namespace perdure::test_support {

struct Seeds {
  unsigned first = 0;
  unsigned last = 0;
};

/// Parses PERDURE_TEST_SEEDS: FIRST-LAST, or one number.
inline std::optional<Seeds> chosen_seeds() {
  const char* chosen = std::getenv("PERDURE_TEST_SEEDS");
  Seeds seeds;
  if (chosen == nullptr) return std::nullopt;
  const int read = std::sscanf(chosen, "%u-%u", &seeds.first, &seeds.last);
  if (read < 1) return std::nullopt;
  if (read < 2 || seeds.last < seeds.first) seeds.last = seeds.first;
  return seeds;
}

/// Seeds for programs that take milliseconds each, so that a campaign runs thousands.
struct ManySeeds {
  std::uint64_t begin = 0, end = 0;
  bool usual = true;  ///< at least as many as every day, so tests may check totals over all of them
  std::uint64_t count() const { return end - begin; }
};

/// Returns `all` seeds from `first` on, under a sanitizer `sanitized`. PERDURE_TEST_SEEDS replaces the seeds.
/// PERDURE_TEST_SEED_COUNT sets their number, from `first` or from the first of PERDURE_TEST_SEEDS. `costs`: a seed
/// takes so many times as long as others do, so their number is divided by it. A sanitizer takes a tenth of the wanted
/// number.
inline ManySeeds many_seeds(std::uint64_t first, std::uint64_t all, std::uint64_t sanitized, std::uint64_t costs = 1) {
  const std::uint64_t daily = unless_sanitized(all, sanitized);
  std::uint64_t count = daily;
  if (const auto chosen = chosen_seeds()) first = chosen->first, count = std::uint64_t{chosen->last} - first + 1;
  if (const char* wanted = std::getenv("PERDURE_TEST_SEED_COUNT"))
    if (const auto number = std::strtoull(wanted, nullptr, 10); number > 0)
      count = std::max<std::uint64_t>(number / (costs * unless_sanitized(1, 10)), 1);
  return {first, first + count, count >= daily};
}

}  // namespace perdure::test_support
