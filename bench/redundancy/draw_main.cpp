// Plots Table 1 from the results of bench/redundancy/run: seconds of a checkpoint over nodes, one line per scheme.
#include <map>
#include <string>

#include "base/json.hpp"
#include "draw.hpp"
#include "plot/chart.hpp"

namespace {

using perdure::base::Json;

perdure::plot::Chart table_1(const Json& results) {
  std::map<std::string, Json> schemes;  // milliseconds by nodes
  for (const auto& [nodes, medians] : results.at("figures").at("partner_over_buddy").at("medians_s").items())
    for (const auto& [scheme, seconds] : medians.items()) schemes[scheme][nodes] = seconds.get<double>() * 1e3;
  perdure::plot::Chart chart{.title = "nbody without computation: one checkpoint until level node",
                             .x_label = "nodes",
                             .y_label = "ms",
                             .log_x = true,
                             .log_y = true,
                             .series = {}};
  for (const auto& [scheme, points] : schemes) chart.series.push_back(perdure::bench::series_by_number(scheme, points));
  return chart;
}

}  // namespace

int main(int argc, char** argv) {
  return perdure::bench::draw(argc, argv,
                              {.program = "draw_redundancy",
                               .script = "bench/redundancy/run",
                               .where = "/figures/partner_over_buddy/medians_s",
                               .what = "figures of Table 1",
                               .chart = table_1});
}
