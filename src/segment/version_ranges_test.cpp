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

TEST(VersionsThere, AreToldInTheirOrderAndOfManyTheLastOnes) {
  EXPECT_EQ(versions_there({}), "");
  EXPECT_EQ(versions_there({7, 7}), "its only version is 7");
  EXPECT_EQ(versions_there({30, 10, 20, 20}), "its versions are 10, 20, 30");
  EXPECT_EQ(versions_there({1, 2, 3, 4, 5, 6, 7, 8}), "its versions are 1, 2, 3, 4, 5, 6, 7, 8");
  EXPECT_EQ(versions_there({1, 2, 3, 4, 5, 6, 7, 8, 9}), "its 9 versions are 1 to 9, the last ones 7, 8, 9");
}

}  // namespace
}  // namespace perdure::segment
