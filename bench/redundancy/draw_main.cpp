// Table 1 as a plot, out of what bench/redundancy/run wrote: seconds of a checkpoint over nodes, one line per scheme.
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.hpp"
#include "plot/chart.hpp"

namespace {

using Json = nlohmann::json;

std::string table_1(const Json& result) {
  std::map<std::string, std::map<double, double>> schemes;  // by scheme, then nodes
  for (const auto& [nodes, medians] : result.at("figures").at("partner_over_buddy").at("medians_s").items())
    for (const auto& [scheme, seconds] : medians.items())
      schemes[scheme][std::stod(nodes)] = seconds.get<double>() * 1e3;
  perdure::plot::Chart chart{.title = "nbody without computation: one checkpoint until level node",
                             .x_label = "nodes",
                             .y_label = "ms",
                             .log_x = true,
                             .log_y = true,
                             .series = {}};
  for (const auto& [scheme, points] : schemes) {
    perdure::plot::Series series{.name = scheme, .points = {}};
    for (const auto& [nodes, milliseconds] : points) series.points.push_back({nodes, milliseconds});
    chart.series.push_back(std::move(series));
  }
  return perdure::plot::svg(chart);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: draw_redundancy REDUNDANCY.json OUT.svg\n");
    return 2;
  }
  std::ifstream in(argv[1]);
  const Json result = Json::parse(in, nullptr, false);
  if (!result.is_object() || !result.contains("/figures/partner_over_buddy/medians_s"_json_pointer)) {
    std::fprintf(stderr, "draw_redundancy: %s holds no figures of Table 1; run bench/redundancy/run\n", argv[1]);
    return 1;
  }
  std::ofstream out(argv[2]);
  out << table_1(result);
  out.close();
  if (!out) std::fprintf(stderr, "draw_redundancy: cannot write %s\n", argv[2]);
  return out ? 0 : 1;
}
