#include "plot/picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace perdure::plot {
namespace {

constexpr int kEdge = 20;

Picture letter_alone(char letter) {
  Picture drawn(2 * kEdge + Picture::text_width("x"), 2 * kEdge + Picture::kTextHeight + Picture::kTextDepth);
  drawn.text(kEdge, kEdge, std::string(1, letter));
  return drawn;
}

std::size_t inked_pixels(const Picture& drawn) {
  return drawn.pixels().size() - std::count(drawn.pixels().begin(), drawn.pixels().end(), kWhite);
}

TEST(Letters, AllButTheBlankHavePixels) {
  EXPECT_EQ(inked_pixels(letter_alone(' ')), 0u);
  for (char letter = '!'; letter <= '~'; ++letter) EXPECT_GT(inked_pixels(letter_alone(letter)), 0u) << letter;
}

TEST(Letters, AreAllDifferent) {
  for (char a = ' '; a <= '~'; ++a)
    for (char b = ' '; b < a; ++b) EXPECT_NE(letter_alone(a).pixels(), letter_alone(b).pixels()) << a << b;
}

TEST(Letters, StayInTheirCellsAndDoNotTouchTheNext) {
  for (char letter = '!'; letter <= '~'; ++letter) {
    Picture drawn = letter_alone(letter);
    drawn.fill(kEdge, kEdge, Picture::text_width("x") - 2, Picture::kTextHeight + Picture::kTextDepth, kWhite);
    EXPECT_EQ(inked_pixels(drawn), 0u) << letter;
  }
}

TEST(Letters, OfCapitalsAndFiguresStandOnTheLineWithTheirWholeHeight) {
  for (const char letter : std::string("ABCDEFGHIJKLMNOPRSTUVWXYZ0123456789")) {
    Picture below = letter_alone(letter);
    below.fill(0, 0, below.width(), kEdge + Picture::kTextHeight, kWhite);
    EXPECT_EQ(inked_pixels(below), 0u) << letter;
    const auto has_row = [&](int y) {
      const Picture drawn = letter_alone(letter);
      for (int x = 0; x < drawn.width(); ++x)
        if (drawn.at(x, y) == kBlack) return true;
      return false;
    };
    EXPECT_TRUE(has_row(kEdge)) << letter;
    EXPECT_TRUE(has_row(kEdge + Picture::kTextHeight - 1)) << letter;
  }
}

}  // namespace
}  // namespace perdure::plot
