#include "config/nearest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace perdure::config {
namespace {

TEST(Nearest, CountsTheEditsBetweenTwoWords) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("memroy", "memory"), 1U);
  EXPECT_EQ(edit_distance("threads", "threads"), 0U);
}

TEST(Nearest, NamesTheWordThatWasMeant) {
  constexpr std::array<std::string_view, 3> known = {"tier.memory.path", "tier.file.path", "flush.threads"};
  EXPECT_EQ(nearest("tier.memroy.path", known), "tier.memory.path");
  EXPECT_EQ(nearest("flush.thread", known), "flush.threads");
  EXPECT_EQ(nearest(std::string(1 << 20, 'x'), known).empty(), false);
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace perdure::config
