// Tests the verb that the acceptance test of the layout adds, through the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "cli/verb_testing.hpp"

namespace perdure::cli {
namespace {

TEST(Names, AreThoseOfTheStore) {
  SampleStore store;
  const Ran ran = run_verb({"names", store.path(), "--json"});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_TRUE(ran.json()["names"].is_array());
  EXPECT_EQ(run_verb({"names", "/nowhere/store"}).status, kCannot);
}

}  // namespace
}  // namespace perdure::cli
