#include "options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perdure::micro {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> sizes_of(std::uint64_t min_bytes, std::uint64_t max_bytes, unsigned factor) {
  Options options;
  options.min_bytes = min_bytes;
  options.max_bytes = max_bytes;
  options.factor = factor;
  return options.sizes();
}

TEST(Sweep, GrowsByAFactorAndEndsWithTheLargest) {
  EXPECT_THAT(sizes_of(4, 64, 4), ElementsAre(4, 16, 64));
  EXPECT_THAT(sizes_of(4, 65, 4), ElementsAre(4, 16, 64, 65));
  EXPECT_THAT(sizes_of(7, 7, 2), ElementsAre(7));
}

TEST(Sweep, GoesFromNothingToOneByte) { EXPECT_THAT(sizes_of(0, 8, 4), ElementsAre(0, 1, 4, 8)); }

TEST(Sweep, DoesNotOverflow) { EXPECT_EQ(sizes_of(1ULL << 62, ~0ULL, 1024).size(), 2U); }

}  // namespace
}  // namespace perdure::micro
