#include "plot/field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "plot/axis.hpp"

namespace perdure::plot {
namespace {

constexpr int kMargin = 16, kTitle = 44, kLeftRoom = 110, kBelow = 64, kBar = 24, kBarRoom = 190, kCurveWidth = 760,
              kCurveHeight = 400;
constexpr int kLeastWidth = 420, kLeastHeight = 260;
constexpr std::size_t kLinesOfBars = 8;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  bool any() const { return low <= high; }
  double place(double value) const {
    if (std::isnan(value)) return value;
    if (low == high) return value < low ? 0 : value > high ? 1 : 0.5;
    return std::clamp((value - low) / (high - low), 0.0, 1.0);
  }
};

/// Returns the range of the finite values.
Range range_of(const std::vector<double>& values) {
  Range range;
  for (const double value : values)
    if (std::isfinite(value)) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  return range;
}

std::string shown(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string range_text(const Field& field, const Range& range) {
  const std::string unit = field.unit.empty() ? "" : " " + field.unit;
  return range.any() ? shown(range.low) + " to " + shown(range.high) + unit : "no numbers";
}

void centred(Picture& picture, int x, int y, const std::string& text) {
  picture.text(x - Picture::text_width(text) / 2, y, text);
}
void before(Picture& picture, int x, int y, const std::string& text) {
  picture.text(x - Picture::text_width(text), y - Picture::kTextHeight / 2, text);
}

void draw_bar(Picture& picture, int x, int y, int height, const Range& range, const std::string& unit) {
  for (int row = 0; row < height; ++row)
    picture.fill(x, y + row, kBar, 1, colour_at(1 - static_cast<double>(row) / (height - 1)));
  picture.frame(x, y, kBar, height, kBlack);
  picture.text(x, y - Picture::kTextHeight - 8, unit);
  if (!range.any()) return picture.text(x + kBar + 8, y, "no numbers");
  const Axis axis({range.low, range.high}, false, false);
  std::vector<double> ticks = range.low == range.high ? std::vector<double>{range.low} : axis.ticks();
  for (const double tick : ticks) {
    const int at = y + static_cast<int>(std::lround((height - 1) * (1 - range.place(tick))));
    picture.fill(x + kBar, at, 6, 1, kBlack);
    picture.text(x + kBar + 10, at - Picture::kTextHeight / 2,
                 shown(std::abs(tick) < 1e-12 * (range.high - range.low) ? 0 : tick));
  }
}

/// Returns the side in pixels of the square that shows one number. Few numbers get large squares.
int scale_of(const Field& field) {
  const auto largest = static_cast<int>(std::max(field.width, field.height));
  return std::max(1, 480 / std::max(1, largest));
}

void foreground(std::string& text, const char* which, Colour c) {
  std::array<char, 32> sequence{};
  std::snprintf(sequence.data(), sequence.size(), "\x1b[%s;2;%d;%d;%dm", which, c.red, c.green, c.blue);
  text += sequence.data();
}

}  // namespace

Picture picture(const Field& field) {
  const Range range = range_of(field.values);
  const int scale = scale_of(field);
  const int width = static_cast<int>(field.width) * scale, height = static_cast<int>(field.height) * scale;
  const int room = std::max(width, kLeastWidth), bar_height = std::max(height, kLeastHeight);
  const int x = kMargin + kLeftRoom, y = kMargin + kTitle + 24;
  Picture picture(std::max(x + room + 40 + kBar + kBarRoom, 2 * kMargin + Picture::text_width(field.title)),
                  y + bar_height + kBelow);
  picture.text(kMargin, kMargin, field.title);
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      picture.set(x + column, y + row,
                  colour_at(range.place(field.values[static_cast<std::size_t>(row / scale) * field.width +
                                                     static_cast<std::size_t>(column / scale)])));
  picture.frame(x - 1, y - 1, width + 2, height + 2, kBlack);
  before(picture, x - 8, y + Picture::kTextHeight / 2, shown(field.y_begin));
  before(picture, x - 8, y + height - Picture::kTextHeight / 2, shown(field.y_end));
  if (height > 5 * Picture::kTextHeight) before(picture, x - 8, y + height / 2, field.y_label);
  picture.text(x, y + height + 8, shown(field.x_begin));
  const std::string end = shown(field.x_end);
  picture.text(std::max(x + width - Picture::text_width(end), x + Picture::text_width(shown(field.x_begin) + " ")),
               y + height + 8, end);
  centred(picture, x + width / 2, y + height + 12 + Picture::kTextHeight, field.x_label);
  draw_bar(picture, x + room + 40, y, bar_height, range, field.unit);
  return picture;
}

Picture curve_picture(const Field& field) {
  const Range range = range_of(field.values);
  const int x = kMargin + kLeftRoom + 20, y = kMargin + kTitle;
  Picture picture(std::max(x + kCurveWidth + 2 * kMargin, 2 * kMargin + Picture::text_width(field.title)),
                  y + kCurveHeight + kBelow);
  picture.text(kMargin, kMargin, field.title);
  const Axis axis(range.any() ? std::vector<double>{range.low, range.high} : std::vector<double>{0, 1}, false, false);
  const auto down = [&](double value) { return y + (kCurveHeight - 1) * (1 - axis.place(value)); };
  for (const double tick : axis.ticks()) {
    const int at = static_cast<int>(std::lround(down(tick)));
    picture.fill(x, at, kCurveWidth, 1, kGrey);
    before(picture, x - 8, at, shown(tick));
  }
  picture.frame(x, y, kCurveWidth, kCurveHeight, kBlack);
  const auto right = [&](std::size_t i) {
    return x + (static_cast<double>(i) + 0.5) * kCurveWidth / static_cast<double>(field.width);
  };
  for (std::size_t i = 0; i < field.width; ++i) {
    if (!std::isfinite(field.values[i])) continue;
    const std::size_t next = i + 1 < field.width && std::isfinite(field.values[i + 1]) ? i + 1 : i;
    picture.line(right(i), down(field.values[i]), right(next), down(field.values[next]), colour_at(0.25));
  }
  picture.text(x, y + kCurveHeight + 8, shown(field.x_begin));
  const std::string end = shown(field.x_end);
  picture.text(x + kCurveWidth - Picture::text_width(end), y + kCurveHeight + 8, end);
  centred(picture, x + kCurveWidth / 2, y + kCurveHeight + 12 + Picture::kTextHeight, field.x_label);
  return picture;
}

Chart curve_chart(const Field& field) {
  Chart chart{field.title, field.x_label, field.unit, false, false, {}};
  Series series{"", {}, true, field.width <= 40};
  const double step = (field.x_end - field.x_begin) / static_cast<double>(field.width);
  for (std::size_t i = 0; i < field.width; ++i)
    series.points.push_back({field.x_begin + step * (static_cast<double>(i) + 0.5), field.values[i]});
  chart.series.push_back(std::move(series));
  return chart;
}

std::string terminal_text(const Field& field, bool colours) {
  static const std::string kLetters = " .:-=+*#%@";
  const Range range = range_of(field.values);
  const auto place = [&](std::size_t row, std::size_t column) {
    return row < field.height ? range.place(field.values[row * field.width + column]) : std::nan("");
  };
  std::string text = field.title + "\n";
  for (std::size_t row = 0; row < field.height; row += colours ? 2 : 1) {
    for (std::size_t column = 0; column < field.width; ++column) {
      if (colours) {
        foreground(text, "38", colour_at(place(row, column)));
        if (row + 1 < field.height) foreground(text, "48", colour_at(place(row + 1, column)));
        text += "\u2580";
        continue;
      }
      const double at = place(row, column);
      text += std::isnan(at) ? '?' : kLetters[static_cast<std::size_t>(std::lround(at * 9))];
    }
    text += colours ? "\x1b[0m\n" : "\n";
  }
  return text + range_text(field, range) + "\n";
}

std::string terminal_curve(const Field& field, bool blocks) {
  static const std::array<const char*, 9> kEighths{" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                                   "\u2585", "\u2586", "\u2587", "\u2588"};
  const Range range = range_of(field.values);
  std::string text = field.title + "\n";
  for (std::size_t line = kLinesOfBars; line > 0; --line) {
    for (std::size_t column = 0; column < field.width; ++column) {
      const double place = range.place(field.values[column]);
      // The least value has a bar, too.
      const long eighths = std::isnan(place) ? 0 : 1 + std::lround(place * (8.0 * kLinesOfBars - 1));
      const long here = std::clamp<long>(eighths - 8 * static_cast<long>(line - 1), 0, 8);
      text += blocks ? kEighths[static_cast<std::size_t>(here)] : here >= 4 || (line == 1 && here > 0) ? "#" : " ";
    }
    text += "\n";
  }
  return text + range_text(field, range) + "\n";
}

}  // namespace perdure::plot
