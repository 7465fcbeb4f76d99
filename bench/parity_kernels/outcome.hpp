#pragma once
// What was measured, and how it is printed.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace perdure::parity_kernels {

struct Measured {
  std::string name;
  unsigned k = 1, m = 0;
  std::vector<double> bytes_per_s;  ///< data read, one entry per repetition
};

/// `measured`: the two references first, all with as many repetitions. A ratio is the bytes of data that a case reads
/// per second over those that memcpy copies in the same repetition, the faster of both ways; of the repetitions the
/// median.
nlohmann::json to_json(const std::vector<Measured>& measured);
void print_table(const nlohmann::json& result);

}  // namespace perdure::parity_kernels
