#pragma once
// One run of a study, and how all runs are written down.
#include <map>
#include <string>
#include <vector>

#include "simulate/scenario.hpp"

namespace perdure::studies {

struct Row {
  std::string policy;
  std::string driver;       ///< what ran it: Driver::name()
  std::string application;  ///< study `application` only
  unsigned nodes = 1, writers = 0, chunks = 0;
  std::uint64_t chunk_bytes = 0, cache_bytes = 0;
  unsigned repetition = 0;
  std::uint64_t seed = 0;
  double size_scale = 1;  ///< the driver divided sizes and throughputs by this; the row has them as described
  double time_scale = 0;  ///< real seconds per second of the row; 0: virtual time
  double local_phase_s = 0;
  double flush_completion_s = 0;        ///< from the same beginning as the local phase
  std::uint64_t ssd_chunks = 0;         ///< written to the slowest tier, all nodes together
  std::map<std::string, double> extra;  ///< what only this study has: the same keys in all its rows
  std::string plan;                     ///< of the oracle
  std::string error;                    ///< why there are no figures; empty when there are
};

/// What a run was asked for and what came of it.
Row row_of(const simulate::Scenario& scenario, const simulate::Outcome& outcome);

/// A list of objects; ends with a new line.
std::string rows_json(const std::vector<Row>& rows);
std::string rows_csv(const std::vector<Row>& rows);

}  // namespace perdure::studies
