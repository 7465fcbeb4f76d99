#pragma once
// Provides the common part of the programs that plot a benchmark's results.
#include "base/json.hpp"
#include "plot/chart.hpp"

namespace perdure::bench {

struct Plot {
  const char* program;  ///< its name, for messages
  const char* script;   ///< the script that writes the results
  const char* where;    ///< JSON pointer to the plotted data, which not all results have
  const char* what;     ///< the same for people
  plot::Chart (*chart)(const base::Json& results);
};

/// Implements main() of such a program: reads argv[1], writes argv[2]; returns its status.
int draw(int argc, char** argv, const Plot& plot);

/// Makes a series from results by number of ranks (nodes, MiB): {"1": 1.5, "2": 1.4}.
plot::Series series_by_number(std::string name, const base::Json& values);

}  // namespace perdure::bench
