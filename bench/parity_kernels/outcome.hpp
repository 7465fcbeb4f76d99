#pragma once
// Stores the measurements, and prints them.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace perdure::parity_kernels {

struct Measured {
  std::string name;
  unsigned k = 1, m = 0;
  std::vector<double> bytes_per_s;  ///< of data read, one entry per repetition
};

/// `measured`: the two references come first, and all cases have as many repetitions. A repetition's ratio is a case's
/// data rate over the rate of the faster memcpy in the same repetition. The result is the median over the repetitions.
nlohmann::json to_json(const std::vector<Measured>& measured);
void print_table(const nlohmann::json& result);

}  // namespace perdure::parity_kernels
