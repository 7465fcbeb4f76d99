// Tests the bookkeeping of missing pages.
#include "process/missing_pages.hpp"

#include <gtest/gtest.h>

#include <random>

namespace perdure::process {
namespace {

constexpr std::uint64_t kPage = kPageBytes;

TEST(MissingPages, AreWhereTheImageHasThem) {
  const MissingPages missing({{kPage, 2}, {8 * kPage, 1}});
  EXPECT_EQ(missing.origin_of(2 * kPage), 2 * kPage);
  EXPECT_EQ(missing.origin_of(3 * kPage), std::nullopt);
  EXPECT_EQ(missing.origin_of(0), std::nullopt);
  EXPECT_EQ(missing.of(2 * kPage, 100 * kPage),
            (std::vector<MissingPages::Part>{{2 * kPage, 2 * kPage, kPage}, {8 * kPage, 8 * kPage, kPage}}));
}

TEST(MissingPages, ThatWereMovedAreServedAtTheirNewPlace) {
  MissingPages missing({{0x100 * kPage, 16}});
  missing.move(0x104 * kPage, 0x200 * kPage, 4 * kPage);
  EXPECT_EQ(missing.origin_of(0x104 * kPage), std::nullopt);
  EXPECT_EQ(missing.origin_of(0x201 * kPage), 0x105 * kPage);
  EXPECT_EQ(missing.of(0x106 * kPage, 4 * kPage),
            (std::vector<MissingPages::Part>{{0x108 * kPage, 0x108 * kPage, 2 * kPage},
                                             {0x202 * kPage, 0x106 * kPage, 2 * kPage}}));
}

/// Moves memory onto missing pages and back, and compares with a plain list of pages.
TEST(MissingPages, AreThoseOfAPlainList) {
  constexpr std::uint64_t kPages = 64;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 rng(seed);
    MissingPages missing({{0, 20}, {30 * kPage, 10}});
    std::vector<std::optional<std::uint64_t>> plain(kPages);
    for (std::uint64_t page = 0; page < 40; ++page)
      if (page < 20 || page >= 30) plain[page] = page;
    for (int step = 0; step < 30; ++step) {
      const std::uint64_t length = 1 + rng() % 8, from = rng() % (kPages - length), to = rng() % (kPages - length);
      if (rng() % 3 == 0) {
        missing.drop(from * kPage, (from + length) * kPage);
        std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(from), length, std::nullopt);
      } else if (from + length <= to || to + length <= from) {
        missing.move(from * kPage, to * kPage, length * kPage);
        for (std::uint64_t i = 0; i < length; ++i) plain[to + i] = std::exchange(plain[from + i], std::nullopt);
      }
    }
    std::uint64_t left = 0;
    for (std::uint64_t page = 0; page < kPages; ++page) {
      left += plain[page] ? 1 : 0;
      EXPECT_EQ(missing.origin_of(page * kPage + 5),
                plain[page] ? std::optional(*plain[page] * kPage + 5) : std::nullopt)
          << page;
      const auto parts = missing.of(page * kPage, kPage);
      for (const auto& part : parts) EXPECT_EQ(plain[part.address / kPage], page);
      EXPECT_EQ(static_cast<std::ptrdiff_t>(parts.size()), std::count(plain.begin(), plain.end(), std::optional(page)));
    }
    EXPECT_EQ(missing.empty(), left == 0);
  }
}

}  // namespace
}  // namespace perdure::process
