#include "plot/chart.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/printable.hpp"
#include "plot/axis.hpp"

namespace perdure::plot {
namespace {

constexpr double kWidth = 760, kHeight = 440, kLeft = 80, kRight = 170, kTop = 46, kBottom = 60;
// Uses Okabe and Ito's colours, which people with any colour vision can tell apart.
constexpr std::array<const char*, 8> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                              "#E69F00", "#56B4E9", "#000000", "#7F7F7F"};
const char* colour(std::size_t series) { return kColours[series % kColours.size()]; }

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string label(double x, double y, const std::string& attributes, const std::string& content) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + attributes + ">" + base::xml_text(content) +
         "</text>\n";
}

std::string rule(double x1, double y1, double x2, double y2, const char* stroke) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
         "\" stroke=\"" + stroke + "\"/>\n";
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart), x_(all(&Point::x), chart.log_x, false), y_(axis_of_y()) {}

  std::string text() const {
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(kWidth) + " " +
                      number(kHeight) + "\" font-family=\"sans-serif\" font-size=\"12\">\n" +
                      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
                      label(kLeft, 26, "font-size=\"15\"", chart_.title) + grid();
    bool shown = false;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) shown |= draw(i, svg);
    if (!shown) svg += label(kLeft + 20, kTop + 40, "fill=\"#555\"", "nothing to show");
    return svg + "</svg>\n";
  }

 private:
  std::vector<double> all(double Point::*coordinate) const {
    std::vector<double> values;
    for (const Series& series : chart_.series)
      for (const Point& point : series.points) values.push_back(point.*coordinate);
    return values;
  }
  Axis axis_of_y() const { return {all(&Point::y), chart_.log_y, !chart_.log_y}; }
  double px(double x) const { return kLeft + x_.place(x) * (kWidth - kLeft - kRight); }
  double py(double y) const { return kHeight - kBottom - y_.place(y) * (kHeight - kTop - kBottom); }

  std::string grid() const {
    std::string svg;
    for (double tick : x_.ticks())
      svg += rule(px(tick), kTop, px(tick), kHeight - kBottom, "#e4e4e4") +
             label(px(tick), kHeight - kBottom + 18, "text-anchor=\"middle\"", tick_text(tick));
    for (double tick : y_.ticks())
      svg += rule(kLeft, py(tick), kWidth - kRight, py(tick), "#e4e4e4") +
             label(kLeft - 8, py(tick) + 4, "text-anchor=\"end\"", tick_text(tick));
    svg += rule(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "#444") +
           rule(kLeft, kTop, kLeft, kHeight - kBottom, "#444");
    const double middle = (kTop + kHeight - kBottom) / 2;
    return svg + label((kLeft + kWidth - kRight) / 2, kHeight - 18, "text-anchor=\"middle\"", chart_.x_label) +
           label(20, middle, "text-anchor=\"middle\" transform=\"rotate(-90 20 " + number(middle) + ")\"",
                 chart_.y_label);
  }

  /// Appends one series and its legend; false if none of its points can be shown.
  bool draw(std::size_t index, std::string& svg) const {
    const Series& series = chart_.series[index];
    std::string path, marks;
    for (const Point& point : series.points) {
      if (!x_.shows(point.x) || !y_.shows(point.y)) continue;
      const std::string x = number(px(point.x)), y = number(py(point.y));
      path.append(path.empty() ? "" : " ").append(x).append(",").append(y);
      marks.append("<circle cx=\"").append(x).append("\" cy=\"").append(y).append("\" r=\"3\"/>\n");
    }
    const double legend = kTop + 10 + 20 * static_cast<double>(index);
    const std::string stroke = colour(index);
    svg += rule(kWidth - kRight + 14, legend, kWidth - kRight + 34, legend, colour(index)) +
           label(kWidth - kRight + 40, legend + 4, "", series.name);
    if (series.line)
      svg += "<polyline fill=\"none\" stroke=\"" + stroke + "\" stroke-width=\"1.6\" points=\"" + path + "\"/>\n";
    if (series.marks) svg += "<g fill=\"" + stroke + "\">\n" + marks + "</g>\n";
    return !path.empty();
  }

  const Chart& chart_;
  Axis x_, y_;
};

}  // namespace

std::string svg(const Chart& chart) { return Drawing(chart).text(); }

}  // namespace perdure::plot
