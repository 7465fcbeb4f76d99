#include "plot/picture.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plot/glyphs.hpp"

namespace perdure::plot {
namespace {

constexpr int kScale = 2, kAdvance = (kGlyphWidth + 1) * kScale;
static_assert(Picture::kTextHeight == kCapitalHeight * kScale);
static_assert(Picture::kTextDepth == (kGlyphHeight - kCapitalHeight) * kScale);

// Viridis at every tenth (Smith and van der Walt, CC0).
constexpr std::array<Colour, 11> kViridis{{{68, 1, 84},
                                           {72, 36, 117},
                                           {65, 68, 135},
                                           {53, 95, 141},
                                           {42, 120, 142},
                                           {33, 145, 140},
                                           {34, 168, 132},
                                           {68, 191, 112},
                                           {122, 209, 81},
                                           {189, 223, 38},
                                           {253, 231, 37}}};

std::uint8_t between(std::uint8_t a, std::uint8_t b, double part) {
  return static_cast<std::uint8_t>(std::lround(a + part * (b - a)));
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

Colour colour_at(double place) {
  if (std::isnan(place)) return kGrey;
  const double scaled = std::clamp(place, 0.0, 1.0) * (kViridis.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(scaled), kViridis.size() - 2);
  const Colour &a = kViridis[low], &b = kViridis[low + 1];
  const double part = scaled - static_cast<double>(low);
  return {between(a.red, b.red, part), between(a.green, b.green, part), between(a.blue, b.blue, part)};
}

void Picture::fill(int x, int y, int width, int height, Colour colour) {
  for (int row = y; row < y + height; ++row)
    for (int column = x; column < x + width; ++column) set(column, row, colour);
}

void Picture::frame(int x, int y, int width, int height, Colour colour) {
  fill(x, y, width, 1, colour);
  fill(x, y + height - 1, width, 1, colour);
  fill(x, y, 1, height, colour);
  fill(x + width - 1, y, 1, height, colour);
}

void Picture::line(double x1, double y1, double x2, double y2, Colour colour) {
  const int steps = static_cast<int>(std::ceil(std::max(std::abs(x2 - x1), std::abs(y2 - y1))));
  for (int i = 0; i <= steps; ++i) {
    const double part = steps == 0 ? 0 : static_cast<double>(i) / steps;
    fill(static_cast<int>(std::lround(x1 + part * (x2 - x1))), static_cast<int>(std::lround(y1 + part * (y2 - y1))), 2,
         2, colour);
  }
}

void Picture::text(int x, int y, const std::string& text, Colour colour) {
  for (const char c : text) {
    if (continues(c)) continue;
    const char letter = c >= kFirstGlyph && c <= kLastGlyph ? c : '?';
    for (int column = 0; column < kGlyphWidth; ++column)
      for (int row = 0; row < kGlyphHeight; ++row)
        if (inked(letter, column, row)) fill(x + column * kScale, y + row * kScale, kScale, kScale, colour);
    x += kAdvance;
  }
}

int Picture::text_width(const std::string& text) {
  return kAdvance * static_cast<int>(text.size() - std::count_if(text.begin(), text.end(), continues));
}

base::Result<std::vector<std::byte>> png(const Picture& picture) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width());
  image.height = static_cast<png_uint_32>(picture.height());
  image.format = PNG_FORMAT_RGB;
  static_assert(sizeof(Colour) == 3);
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> file(bytes);
  if (png_image_write_to_memory(&image, file.data(), &bytes, 0, picture.pixels().data(), 0, nullptr) == 0)
    return base::fail(PERDURE_INTERNAL, "PNG", static_cast<const char*>(image.message));
  file.resize(bytes);
  return file;
}

}  // namespace perdure::plot
