#pragma once
// Draws line charts as SVG, for the tools' measurements. Text in, text out; pure.
#include <string>
#include <vector>

namespace perdure::plot {

struct Point {
  double x = 0;
  double y = 0;
};

struct Series {
  std::string name;
  std::vector<Point> points;  ///< in order of x; drops values that are not finite, or not positive on a logarithmic
                              ///< axis
  bool line = true;           ///< joins the points
  bool marks = true;          ///< shows the points themselves
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;  ///< a linear y axis begins at 0
  std::vector<Series> series;
};

/// Returns a whole SVG document; well-formed for any texts. It says so if there is nothing to show.
std::string svg(const Chart& chart);

}  // namespace perdure::plot
