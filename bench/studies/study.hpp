#pragma once
// Declares the studies. A new one is a file with one function and a line in registry.cpp.
#include <functional>
#include <string>
#include <vector>

#include "driver.hpp"
#include "goals.hpp"
#include "plot/chart.hpp"

namespace perdure::studies {

struct Context {
  device::Node node;  ///< the described node
  Driver* driver = nullptr;
  unsigned repetitions = 5;
  std::uint64_t seed = 1;
  double jitter_s = simulate::Scenario{}.jitter_s;  ///< simulated writers begin within this many seconds of each other
  bool full = false;                                ///< more cells, and more nodes simulated one by one
  bool oracle = true;                               ///< also the best plan in hindsight, which takes most of the time
  unsigned max_cells = 0;                           ///< only the first cells; 0: all (for tests)
  /// Only cells that this accepts; empty: all.
  std::function<bool(const simulate::Scenario&)> takes;
  std::function<void(const std::string&)> progress;
};

struct Plot {
  std::string file;  ///< without ".svg"
  plot::Chart chart;
};

struct Results {
  std::vector<Row> rows;
  std::vector<Goal> goals;
  std::vector<Plot> plots;
};

struct Study {
  const char* name;
  const char* summary;  ///< with the paper's figure
  base::Result<Results> (*run)(const Context&);
  /// Selects the few cells that the real engine runs, too; nullptr: none.
  bool (*by_engine)(const simulate::Scenario&);
};

const std::vector<Study>& studies();
/// PERDURE_INVALID_ARGUMENT, with the existing names, if there is none.
base::Result<const Study*> find_study(const std::string& name);

base::Result<Results> run_model(const Context& context);
base::Result<Results> run_weak(const Context& context);
base::Result<Results> run_strong(const Context& context);
base::Result<Results> run_cache(const Context& context);
base::Result<Results> run_horizontal(const Context& context);
base::Result<Results> run_application(const Context& context);

}  // namespace perdure::studies
