// Plots the times of a checkpoint's call and of a restore, relative to memcpy, before and after, by number of ranks. It
// reads the results of bench/speed/run.
#include <string>
#include <utility>

#include "base/json.hpp"
#include "draw.hpp"
#include "plot/chart.hpp"

namespace {

perdure::plot::Chart copies(const perdure::base::Json& results) {
  perdure::plot::Chart chart{.title = "256 MiB per rank: time over that of a memcpy",
                             .x_label = "ranks",
                             .y_label = "",
                             .log_x = true,
                             .series = {}};
  for (const auto& [name, figure] : {std::pair{"call", "blocking_over_memcpy"}, {"restore", "restore_over_memcpy"}})
    for (const auto& [when, key] : {std::pair{"before", "before"}, {"now", "value"}})
      chart.series.push_back(
          perdure::bench::series_by_number(std::string(name) + ", " + when, results.at("figures").at(figure).at(key)));
  return chart;
}

}  // namespace

int main(int argc, char** argv) {
  return perdure::bench::draw(argc, argv,
                              {.program = "draw_speed",
                               .script = "bench/speed/run",
                               .where = "/figures/restore_over_memcpy",
                               .what = "copies",
                               .chart = copies});
}
