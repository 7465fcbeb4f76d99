#include "segment/read_past_cache.hpp"

#include <gtest/gtest.h>

namespace perdure::segment {
namespace {

constexpr std::uint64_t kMuch = 64 * base::MiB;

TEST(ReadingPastTheCache, IsForMuchOfWhichTheCacheHasNothing) {
  EXPECT_TRUE(is_read_past_cache(kMuch, os::CachedBytes{}));
  EXPECT_TRUE(is_read_past_cache(kLeastPastCache, os::CachedBytes{}));
  EXPECT_FALSE(is_read_past_cache(kLeastPastCache - 1, os::CachedBytes{}));
}

TEST(ReadingPastTheCache, IsNotForWhatIsThere) {
  EXPECT_FALSE(is_read_past_cache(kMuch, os::CachedBytes{.there = kMuch}));
  EXPECT_FALSE(is_read_past_cache(kMuch, os::CachedBytes{.there = kMuch / 2})) << "half of it";
  EXPECT_FALSE(is_read_past_cache(kMuch, os::CachedBytes{.there = kMuch / 5})) << "what saves as much";
  EXPECT_TRUE(is_read_past_cache(kMuch, os::CachedBytes{.there = base::MiB})) << "next to nothing";
}

TEST(ReadingPastTheCache, IsNotForWhatWouldHaveToBeWrittenFirst) {
  EXPECT_FALSE(is_read_past_cache(kMuch, os::CachedBytes{.there = 4096, .unwritten = 4096}));
}

TEST(ReadingPastTheCache, IsNotWhereTheSystemDoesNotSay) { EXPECT_FALSE(is_read_past_cache(kMuch, std::nullopt)); }

}  // namespace
}  // namespace perdure::segment
