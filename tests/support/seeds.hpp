#pragma once
// Which seeds the tests of random lives take: few every day, more in a campaign (tools/campaign).
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace perdure::test_support {

struct Seeds {
  unsigned first = 0;
  unsigned last = 0;
};

/// What PERDURE_TEST_SEEDS says: FIRST-LAST, or one number.
inline std::optional<Seeds> chosen_seeds() {
  const char* chosen = std::getenv("PERDURE_TEST_SEEDS");
  Seeds seeds;
  if (chosen == nullptr) return std::nullopt;
  const int read = std::sscanf(chosen, "%u-%u", &seeds.first, &seeds.last);
  if (read < 1) return std::nullopt;
  if (read < 2 || seeds.last < seeds.first) seeds.last = seeds.first;
  return seeds;
}

}  // namespace perdure::test_support
