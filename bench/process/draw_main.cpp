// What iterations of the kernels cost behind a restart, out of what bench/process/run wrote: percent of what they cost
// before, threads and pages where they were, and anywhere. (A. Saini, Affinity-Aware Checkpoint Restart, 2014, tables
// 5.2 and 5.3)
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.hpp"
#include "plot/chart.hpp"

namespace {

using Json = nlohmann::json;

std::string after_a_restart(const Json& kernels) {
  perdure::plot::Chart chart{
      .title = "Time per iteration behind a restart", .x_label = "", .y_label = "percent of before", .series = {}};
  double number = 0;
  perdure::plot::Series keep{.name = "keep", .points = {}, .line = false}, agnostic = keep;
  agnostic.name = "agnostic";
  for (const auto& [name, modes] : kernels.items()) {
    number += 1;
    chart.x_label += (number == 1 ? "" : ", ") + std::to_string(static_cast<int>(number)) + " " + name;
    for (auto* series : {&keep, &agnostic}) {
      if (!modes.contains(series->name)) continue;
      const Json& mode = modes.at(series->name);
      series->points.push_back({number, 100 * mode.at("after_s").get<double>() / mode.at("before_s").get<double>()});
    }
  }
  chart.series = {std::move(keep), std::move(agnostic)};
  return perdure::plot::svg(chart);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: draw_process PROCESS.json OUT.svg\n");
    return 2;
  }
  std::ifstream in(argv[1]);
  const Json result = Json::parse(in, nullptr, false);
  if (!result.is_object() || !result.contains("/measured/kernels"_json_pointer)) {
    std::fprintf(stderr, "draw_process: %s holds no kernels; run bench/process/run\n", argv[1]);
    return 1;
  }
  std::ofstream out(argv[2]);
  out << after_a_restart(result.at("measured").at("kernels"));
  out.close();
  if (!out) std::fprintf(stderr, "draw_process: cannot write %s\n", argv[2]);
  return out ? 0 : 1;
}
