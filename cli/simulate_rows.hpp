#pragma once
// What `perdure simulate` tells about each run, and where it finds device descriptions.
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/result.hpp"
#include "simulate/oracle.hpp"

namespace perdure::cli {

struct SimulatedRow {
  std::string policy;
  std::string plan;  ///< of the oracle
  simulate::Scenario scenario;
  unsigned repetition = 0;
  simulate::Outcome outcome;
  double slow_down = 0;
};

base::Json row_json(const SimulatedRow& row);
std::string rows_csv(const std::vector<SimulatedRow>& rows);
/// Medians over the repetitions.
std::string rows_table(const std::vector<SimulatedRow>& rows);

/// A path as it is; a bare name is looked for beside this program, in ../share/perdure/devices. Error:
/// PERDURE_NOT_FOUND.
base::Result<std::string> description_path(const std::string& name);

}  // namespace perdure::cli
