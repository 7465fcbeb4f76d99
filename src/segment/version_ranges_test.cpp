#include "segment/version_ranges.hpp"

#include <gtest/gtest.h>

namespace perdure::segment {
namespace {

VersionId id(const std::string& name, std::uint64_t version) { return {name, version, {}}; }

TEST(VersionRanges, NameEachNameOnce) {
  EXPECT_EQ(version_ranges({}), "");
  EXPECT_EQ(version_ranges({id("run", 7)}), "run version 7");
  EXPECT_EQ(version_ranges({id("run", 9), id("run", 7), id("run", 8)}), "run versions 7 to 9");
  EXPECT_EQ(version_ranges({id("run", 9), id("heat", 1), id("run", 7)}), "heat version 1, run versions 7 to 9");
}

TEST(VersionRanges, OfManyNamesAreCutOff) {
  EXPECT_EQ(version_ranges({id("e", 5), id("a", 1), id("b", 2), id("c", 3), id("d", 4)}),
            "a version 1, b version 2, c version 3 and 2 other names");
}

}  // namespace
}  // namespace perdure::segment
