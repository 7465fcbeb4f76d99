#pragma once
// What repetitions come to.
#include <vector>

namespace perdure::bench {

/// 0 for no values.
double median(std::vector<double> values);

struct Spread {
  double median = 0, min = 0, max = 0;
};
/// All 0 for no values.
Spread spread(const std::vector<double>& values);

}  // namespace perdure::bench
