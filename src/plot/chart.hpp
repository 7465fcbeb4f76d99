#pragma once
// Line charts as SVG, for what the tools measure. Text in, text out; pure.
#include <string>
#include <vector>

namespace perdure::plot {

struct Point {
  double x = 0;
  double y = 0;
};

struct Series {
  std::string name;
  std::vector<Point> points;  ///< in order of x; what is not finite, or not positive on a logarithmic axis, is left out
  bool line = true;           ///< joins the points
  bool marks = true;          ///< shows the points themselves
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;  ///< a linear y axis begins at 0
  std::vector<Series> series;
};

/// A whole SVG document; well-formed whatever the texts hold. Says so where there is nothing to show.
std::string svg(const Chart& chart);

}  // namespace perdure::plot
