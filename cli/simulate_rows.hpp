#pragma once
// Prints the results of each run of `perdure simulate`, and finds device descriptions.
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/result.hpp"
#include "simulate/oracle.hpp"

namespace perdure::cli {

struct SimulatedRow {
  std::string policy;
  std::string plan;  ///< the oracle's plan
  simulate::Scenario scenario;
  unsigned repetition = 0;
  simulate::Outcome outcome;
  double slow_down = 0;
};

base::Json row_json(const SimulatedRow& row);
std::string rows_csv(const std::vector<SimulatedRow>& rows);
/// Writes medians over the repetitions.
std::string rows_table(const std::vector<SimulatedRow>& rows);

/// Gives a path as it is; looks for a bare name beside this program, in ../share/perdure/devices. PERDURE_NOT_FOUND: it
/// is not there.
base::Result<std::string> description_path(const std::string& name);

}  // namespace perdure::cli
