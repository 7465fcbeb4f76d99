#pragma once
// Draws numbers in a plane, or a curve, for files and for terminals. Pure.
#include <string>
#include <vector>

#include "plot/chart.hpp"
#include "plot/picture.hpp"

namespace perdure::plot {

/// Numbers in rows, the first row above. With one row it is a curve.
struct Field {
  std::size_t width = 0, height = 0;
  std::vector<double> values;  ///< NaN: missing
  std::string title;
  std::string x_label, y_label;  ///< names of the dimensions
  std::string unit;              ///< of the numbers; may be empty
  double x_begin = 0, x_end = 0, y_begin = 0, y_end = 0;
};

/// Draws it with a colour bar, and numbers at the bar and at the edges.
Picture picture(const Field& field);
/// Draws the first row.
Picture curve_picture(const Field& field);
Chart curve_chart(const Field& field);

/// Draws for a terminal, with two rows of numbers in a line of text and 24-bit colours, or one row in letters from
/// blank to @. A line about the range of the numbers follows.
std::string terminal_text(const Field& field, bool colours);
/// Draws the first row: bars in 8 lines, of blocks (UTF-8) or of #.
std::string terminal_curve(const Field& field, bool blocks);

}  // namespace perdure::plot
