#pragma once
// What the programs have in common that draw a plot out of what a benchmark wrote.
#include "base/json.hpp"
#include "plot/chart.hpp"

namespace perdure::bench {

struct Plot {
  const char* program;  ///< its name, for messages
  const char* script;   ///< what writes the results
  const char* where;    ///< JSON pointer to what is drawn, which not all results have
  const char* what;     ///< the same for people
  plot::Chart (*chart)(const base::Json& results);
};

/// main() of such a program: reads argv[1], writes argv[2]; returns its status.
int draw(int argc, char** argv, const Plot& plot);

/// One value for each number of ranks (nodes, MiB), as results have them: {"1": 1.5, "2": 1.4}.
plot::Series series_by_number(std::string name, const base::Json& values);

}  // namespace perdure::bench
