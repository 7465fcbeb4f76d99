#pragma once
// Computes statistics over repetitions.
#include <vector>

namespace perdure::bench {

/// Returns 0 for no values.
double median(std::vector<double> values);

struct Spread {
  double median = 0, min = 0, max = 0;
};
/// Returns all zeros for no values.
Spread spread(const std::vector<double>& values);

}  // namespace perdure::bench
