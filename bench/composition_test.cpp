#include "composition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

// The rates of the paper's figure 33.
constexpr Parts kParts{
    .write_bytes_per_s = 1.4e9, .read_bytes_per_s = 4e9, .exchange_bytes_per_s = 3e9, .copy_bytes_per_s = 1.4e9};

TEST(Composition, AddsThePartsOrTakesTheLongerOfTwo) {
  constexpr double kBytes = 1e9, kWrite = 1 / 1.4, kExchange = 1 / 3.0, kRead = 1 / 4.0;
  EXPECT_NEAR(composed_seconds(Composition::partner, kParts, kBytes), 2 * kWrite + kExchange + kRead, 1e-9);
  EXPECT_NEAR(composed_seconds(Composition::buddy, kParts, kBytes), 2 * kWrite + kExchange, 1e-9);
  EXPECT_NEAR(composed_seconds(Composition::overlapped, kParts, kBytes), kExchange + kWrite, 1e-9);
  Parts slow_write = kParts;
  slow_write.write_bytes_per_s = 1e8;
  EXPECT_NEAR(composed_seconds(Composition::overlapped, slow_write, kBytes), 10, 1e-9);
}

TEST(Composition, FindsTheOverheadOfThePaper) {
  for (const auto composition : {Composition::partner, Composition::buddy, Composition::overlapped}) {
    std::vector<Sample> wholes;
    for (double bytes = 1e6; bytes < 1e10; bytes *= 4)
      wholes.push_back({bytes, 0.125 + composed_seconds(composition, kParts, bytes)});
    const auto fit = fit_whole(composition, kParts, wholes);
    ASSERT_TRUE(fit) << fit.error();
    EXPECT_NEAR(fit->overhead_s, 0.125, 1e-9);
    EXPECT_LT(fit->residuals.worst, 1e-6);
    wholes.back().seconds *= 1.5;
    const auto disturbed = fit_whole(composition, kParts, wholes);
    EXPECT_NEAR(disturbed->overhead_s, 0.125, 0.0125);
    EXPECT_NEAR(disturbed->residuals.worst, 1 / 3.0, 0.01);
  }
}

TEST(Composition, SaysWhichPartHasNoRateAndNeedsTheReadRateOnlyForPartner) {
  Parts without_read = kParts;
  without_read.read_bytes_per_s = 0;
  EXPECT_TRUE(fit_whole(Composition::buddy, without_read, {{1e6, 1}}));
  const auto partner = fit_whole(Composition::partner, without_read, {{1e6, 1}});
  ASSERT_FALSE(partner);
  EXPECT_THAT(partner.error(), testing::HasSubstr("part \"read\" has no rate"));
  EXPECT_FALSE(fit_whole(Composition::buddy, {}, {{1e6, 1}}));
  EXPECT_FALSE(fit_whole(Composition::buddy, kParts, {}));
  EXPECT_FALSE(fit_whole(Composition::buddy, kParts, {{1e6, 0}}));
}

}  // namespace
}  // namespace perdure::bench
