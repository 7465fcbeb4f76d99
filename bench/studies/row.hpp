#pragma once
// Stores one run of a study, and formats all runs.
#include <map>
#include <string>
#include <vector>

#include "simulate/scenario.hpp"

namespace perdure::studies {

struct Row {
  std::string policy;
  std::string driver;       ///< the driver's Driver::name()
  std::string application;  ///< study `application` only
  unsigned nodes = 1, writers = 0, chunks = 0;
  std::uint64_t chunk_bytes = 0, cache_bytes = 0;
  unsigned repetition = 0;
  std::uint64_t seed = 0;
  double size_scale = 1;  ///< divisor of the driver's sizes and throughputs; the row has the described ones
  double time_scale = 0;  ///< real seconds per second of the row; 0: virtual time
  double local_phase_s = 0;
  double flush_completion_s = 0;        ///< from the same begin as the local phase
  std::uint64_t ssd_chunks = 0;         ///< written to the slowest tier, over all nodes
  std::map<std::string, double> extra;  ///< figures of this study only: the same keys in all its rows
  std::string plan;                     ///< of the oracle
  std::string error;                    ///< why there are no figures; otherwise empty
};

/// Makes the row of a scenario and its outcome.
Row row_of(const simulate::Scenario& scenario, const simulate::Outcome& outcome);

/// Returns a list of objects, with a newline at the end.
std::string rows_json(const std::vector<Row>& rows);
std::string rows_csv(const std::vector<Row>& rows);

}  // namespace perdure::studies
