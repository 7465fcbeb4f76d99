// Plots iteration times of the kernels after a restart, from the results of bench/process/run. The plot shows percent
// of the time before, with threads and pages at their places, and anywhere. (A. Saini, Affinity-Aware Checkpoint
// Restart, 2014, tables 5.2 and 5.3)
#include <string>
#include <utility>

#include "base/json.hpp"
#include "draw.hpp"
#include "plot/chart.hpp"

namespace {

using perdure::base::Json;

perdure::plot::Chart after_a_restart(const Json& results) {
  perdure::plot::Chart chart{
      .title = "Time per iteration behind a restart", .x_label = "", .y_label = "percent of before", .series = {}};
  double number = 0;
  perdure::plot::Series keep{.name = "keep", .points = {}, .line = false}, agnostic = keep;
  agnostic.name = "agnostic";
  for (const auto& [name, modes] : results.at("measured").at("kernels").items()) {
    number += 1;
    chart.x_label += (number == 1 ? "" : ", ") + std::to_string(static_cast<int>(number)) + " " + name;
    for (auto* series : {&keep, &agnostic}) {
      if (!modes.contains(series->name)) continue;
      const Json& mode = modes.at(series->name);
      series->points.push_back({number, 100 * mode.at("after_s").get<double>() / mode.at("before_s").get<double>()});
    }
  }
  chart.series = {std::move(keep), std::move(agnostic)};
  return chart;
}

}  // namespace

int main(int argc, char** argv) {
  return perdure::bench::draw(argc, argv,
                              {.program = "draw_process",
                               .script = "bench/process/run",
                               .where = "/measured/kernels",
                               .what = "kernels",
                               .chart = after_a_restart});
}
