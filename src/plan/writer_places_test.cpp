#include "plan/writer_places.hpp"

#include <gtest/gtest.h>

namespace perdure::plan {
namespace {

TEST(WriterPlaces, AreWherePiecesAreAndEvenOtherwise) {
  EXPECT_EQ(place_writers(PieceHolders(4, {{1, 0}, {2, 1}, {2, 0}}), 2), (std::vector<std::uint32_t>{0, 0, 0, 1}));
  EXPECT_EQ(place_writers(PieceHolders(7, {}), 3), (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(place_writers(PieceHolders(2, {}), 5), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(place_writers(PieceHolders(0, {}), 5).empty());
}

}  // namespace
}  // namespace perdure::plan
