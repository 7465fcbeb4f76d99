#include "plot/field.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cmath>

namespace perdure::plot {
namespace {

using testing::HasSubstr;

Field slope(std::size_t width, std::size_t height) {
  Field field{width, height, {}, "heat version 3: t [0:4, 0:4], K", "dim 1", "dim 0", "K", 0, 0, 0, 0};
  for (std::size_t i = 0; i < width * height; ++i) field.values.push_back(static_cast<double>(i));
  field.x_end = static_cast<double>(width);
  field.y_end = static_cast<double>(height);
  return field;
}

std::vector<Colour> decoded(const std::vector<std::byte>& file, std::uint32_t& width) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0);
  image.format = PNG_FORMAT_RGB;
  std::vector<Colour> pixels(std::size_t(image.width) * image.height);
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0);
  width = image.width;
  return pixels;
}

bool has(const Picture& picture, Colour colour) {
  return std::find(picture.pixels().begin(), picture.pixels().end(), colour) != picture.pixels().end();
}

TEST(PngFiles, HaveEveryPixelOfThePicture) {
  const Picture drawn = picture(slope(7, 5));
  std::uint32_t width = 0;
  EXPECT_EQ(decoded(png(drawn).value(), width), drawn.pixels());
  EXPECT_EQ(width, static_cast<std::uint32_t>(drawn.width()));
}

TEST(PicturesOfPlanes, ShowTheLeastAndTheMostAndWhatIsNoNumber) {
  Field field = slope(4, 4);
  EXPECT_TRUE(has(picture(field), colour_at(0)));
  EXPECT_TRUE(has(picture(field), colour_at(1)));
  EXPECT_FALSE(has(picture(field), kGrey));
  field.values[5] = std::nan("");
  EXPECT_TRUE(has(picture(field), kGrey));
}

TEST(PicturesOfPlanes, AreDrawnWhateverTheNumbers) {
  for (const double value : {0.0, -1e300, 5e-324, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Field field = slope(3, 2);
    std::fill(field.values.begin(), field.values.end(), value);
    EXPECT_GT(picture(field).width(), 0);
    EXPECT_GT(curve_picture(field).width(), 0);
    EXPECT_FALSE(terminal_text(field, true).empty());
    EXPECT_FALSE(terminal_curve(field, true).empty());
    field.values = {value, 1, -1, 0, 2, 3};
    EXPECT_GT(picture(field).width(), 0);
    EXPECT_GT(curve_picture(field).width(), 0);
    EXPECT_FALSE(terminal_text(field, false).empty());
  }
}

TEST(Texts, AreDrawnWithAQuestionMarkForWhatHasNoLetter) {
  Picture umlaut(40, 20), question(40, 20), off(10, 10);
  umlaut.text(2, 2, "ü");
  question.text(2, 2, "?");
  EXPECT_EQ(umlaut.pixels(), question.pixels());
  EXPECT_EQ(Picture::text_width("ü"), Picture::text_width("u"));
  off.text(-5, -5, "overlarge");
  off.line(-100, -100, 100, 100, kBlack);
}

TEST(TerminalPictures, AreLettersFromLeastToMost) {
  Field field = slope(2, 2);
  field.values = {0, std::nan(""), 9, 4};
  EXPECT_EQ(terminal_text(field, false), "heat version 3: t [0:4, 0:4], K\n ?\n@=\n0 to 9 K\n");
}

TEST(TerminalPictures, HaveTwoRowsInALineOfColours) {
  const std::string text = terminal_text(slope(2, 3), true);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_THAT(text, HasSubstr("\x1b[38;2;68;1;84m"));
  EXPECT_THAT(text, HasSubstr("\x1b[0m\n0 to 5 K\n"));
}

TEST(TerminalCurves, HaveBarsOfTheHeightOfTheNumber) {
  Field field = slope(3, 1);
  field.values = {0, 1, std::nan("")};
  EXPECT_THAT(terminal_curve(field, false), HasSubstr("\n## \n0 to 1 K\n"));
  EXPECT_THAT(terminal_curve(field, false), HasSubstr("K\n #"));
  EXPECT_THAT(terminal_curve(field, true), HasSubstr("\u2581\u2588 "));
}

}  // namespace
}  // namespace perdure::plot
