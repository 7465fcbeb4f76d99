#pragma once
// Draws a picture of pixels, and encodes it as a PNG file. Pure.
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

/// Maps 0 to 1 to dark blue, green, yellow; even steps for every eye, and in print without colours (viridis). NaN is
/// grey.
Colour colour_at(double place);

/// Clips drawings at its edges.
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
  /// (x, y) is the upper left corner. Characters beyond ASCII are shown as "?".
  void text(int x, int y, const std::string& text, Colour colour = kBlack);
  static int text_width(const std::string& text);
  /// The height of capitals and figures, and the depth below the line.
  static constexpr int kTextHeight = 14, kTextDepth = 4;
  const std::vector<Colour>& pixels() const { return pixels_; }

 private:
  int width_, height_;
  std::vector<Colour> pixels_;
};

/// Returns a whole PNG file. PERDURE_INTERNAL: libpng failed.
base::Result<std::vector<std::byte>> png(const Picture& picture);

}  // namespace perdure::plot
