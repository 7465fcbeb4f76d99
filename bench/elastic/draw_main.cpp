// Plots the cost of a stencil's output from the results of bench/elastic/run: percent of its run time over the size of
// its field.
#include <map>
#include <string>
#include <utility>

#include "base/json.hpp"
#include "draw.hpp"
#include "plot/chart.hpp"

namespace {

using perdure::base::Json;

perdure::plot::Chart increases(const Json& results) {
  perdure::plot::Chart chart{.title = "A stencil that writes its field: increase of its run time",
                             .x_label = "MiB of the field",
                             .y_label = "percent",
                             .log_x = true,
                             .log_y = false,
                             .series = {}};
  std::map<std::string, std::map<double, double>> lines;
  for (const Json& cell : results.at("measured").at("stencil"))
    for (const char* output : {"shared-file", "perdure"})
      lines[std::string(output) + ", " + std::to_string(cell.at("ranks").get<int>()) + " ranks"]
           [cell.at("mib").get<double>()] =
               100 * cell.at("increase_s").at(output).get<double>() / cell.at("median_s").at("none").get<double>();
  for (const auto& [name, points] : lines) {
    perdure::plot::Series series{.name = name, .points = {}};
    for (const auto& [mib, percent] : points) series.points.push_back({mib, percent});
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

int main(int argc, char** argv) {
  return perdure::bench::draw(argc, argv,
                              {.program = "draw_elastic",
                               .script = "bench/elastic/run",
                               .where = "/measured/stencil",
                               .what = "stencil",
                               .chart = increases});
}
