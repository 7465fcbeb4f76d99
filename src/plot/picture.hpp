#pragma once
// A picture of pixels, and its PNG file. Pure.
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"

namespace perdure::plot {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};
inline constexpr Colour kBlack{0, 0, 0}, kWhite{255, 255, 255}, kGrey{200, 200, 200};

/// From 0 to 1: dark blue, green, yellow; even steps for every eye, and in print without colours (viridis). Grey for
/// what is no number.
Colour colour_at(double place);

/// What is drawn beyond its edges is left out.
class Picture {
 public:
  Picture(int width, int height) : width_(width), height_(height), pixels_(std::size_t(width) * height, kWhite) {}
  int width() const { return width_; }
  int height() const { return height_; }
  Colour at(int x, int y) const { return pixels_[std::size_t(y) * width_ + x]; }
  void set(int x, int y, Colour colour) {
    if (x >= 0 && y >= 0 && x < width_ && y < height_) pixels_[std::size_t(y) * width_ + x] = colour;
  }
  void fill(int x, int y, int width, int height, Colour colour);
  void frame(int x, int y, int width, int height, Colour colour);
  void line(double x1, double y1, double x2, double y2, Colour colour);
  /// The upper left corner. What is not ASCII is shown as "?".
  void text(int x, int y, const std::string& text, Colour colour = kBlack);
  static int text_width(const std::string& text);
  /// Of capitals and figures, and of what is below the line.
  static constexpr int kTextHeight = 14, kTextDepth = 4;
  const std::vector<Colour>& pixels() const { return pixels_; }

 private:
  int width_, height_;
  std::vector<Colour> pixels_;
};

/// A whole PNG file. PERDURE_INTERNAL when libpng says so.
base::Result<std::vector<std::byte>> png(const Picture& picture);

}  // namespace perdure::plot
