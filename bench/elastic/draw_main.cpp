// What output costs a stencil, out of what bench/elastic/run wrote: percent of its run time over the size of its field.
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.hpp"
#include "plot/chart.hpp"

namespace {

using Json = nlohmann::json;

std::string increases(const Json& cells) {
  perdure::plot::Chart chart{.title = "A stencil that writes its field: increase of its run time",
                             .x_label = "MiB of the field",
                             .y_label = "percent",
                             .log_x = true,
                             .log_y = false,
                             .series = {}};
  std::map<std::string, std::map<double, double>> lines;
  for (const Json& cell : cells)
    for (const char* output : {"shared-file", "perdure"})
      lines[std::string(output) + ", " + std::to_string(cell.at("ranks").get<int>()) + " ranks"]
           [cell.at("mib").get<double>()] =
               100 * cell.at("increase_s").at(output).get<double>() / cell.at("median_s").at("none").get<double>();
  for (const auto& [name, points] : lines) {
    perdure::plot::Series series{.name = name, .points = {}};
    for (const auto& [mib, percent] : points) series.points.push_back({mib, percent});
    chart.series.push_back(std::move(series));
  }
  return perdure::plot::svg(chart);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: draw_elastic ELASTIC.json OUT.svg\n");
    return 2;
  }
  std::ifstream in(argv[1]);
  const Json result = Json::parse(in, nullptr, false);
  if (!result.is_object() || !result.contains("/measured/stencil"_json_pointer)) {
    std::fprintf(stderr, "draw_elastic: %s holds no stencil; run bench/elastic/run\n", argv[1]);
    return 1;
  }
  std::ofstream out(argv[2]);
  out << increases(result.at("measured").at("stencil"));
  out.close();
  if (!out) std::fprintf(stderr, "draw_elastic: cannot write %s\n", argv[2]);
  return out ? 0 : 1;
}
