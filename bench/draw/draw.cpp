#include "draw.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

namespace perdure::bench {

int draw(int argc, char** argv, const Plot& plot) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s RESULTS.json OUT.svg\n", plot.program);
    return 2;
  }
  std::ifstream in(argv[1]);
  const base::Json results = base::Json::parse(in, nullptr, false);
  if (!results.is_object() || !results.contains(base::Json::json_pointer(plot.where))) {
    std::fprintf(stderr, "%s: %s holds no %s; run %s\n", plot.program, argv[1], plot.what, plot.script);
    return 1;
  }
  std::ofstream out(argv[2]);
  out << plot::svg(plot.chart(results));
  out.close();
  if (!out) std::fprintf(stderr, "%s: cannot write %s\n", plot.program, argv[2]);
  return out ? 0 : 1;
}

plot::Series series_by_number(std::string name, const base::Json& values) {
  plot::Series series{.name = std::move(name), .points = {}};
  for (const auto& [number, value] : values.items()) series.points.push_back({std::stod(number), value.get<double>()});
  // Names sort as text: 16 comes before 2.
  std::sort(series.points.begin(), series.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return series;
}

}  // namespace perdure::bench
