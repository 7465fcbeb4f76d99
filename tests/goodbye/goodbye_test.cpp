// Tests that a program that ends without closing loses no acknowledged version.
#include <gmock/gmock.h>

#include "left_testing.hpp"
#include "support/eventually.hpp"

namespace perdure::test_support {
namespace {

using testing::HasSubstr;

// In a forked child, memory that only threads of its parent reference looks leaked.
const std::string kForked = "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 ";

class EndOfAProgram : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, EndOfAProgram,
                         testing::Values("return", "exit", "thread", "global", "on_write", "fork", "group", "in_call",
                                         "beside_a_call", "global_in_call", "global_beside_a_call"),
                         [](const auto& way) { return std::string(way.param); });

TEST_P(EndOfAProgram, StoresWhatWasAcknowledged) {
  const Left left;
  const std::string way = GetParam();
  EXPECT_EQ(left.run((way == "fork" ? kForked : "") + PERDURE_LEAVER, way), 0) << left.said();
  EXPECT_EQ(left.said(), "") << "the library prints nothing";
  EXPECT_EQ(left.stored(), kAll) << left.said();
}

TEST(EndOfAnOrderlyProgram, LeavesNothingOnTheNode) {
  const Left left;
  EXPECT_EQ(left.run(PERDURE_LEAVER, "return"), 0) << left.said();
  EXPECT_TRUE(left.nothing_on_the_node());
}

TEST(EndOfAnOrderlyProgram, ThatCannotStoreAllSaysWhatIsLeftWhereThatIsWanted) {
  const Left left;
  EXPECT_EQ(left.run(PERDURE_LEAVER, "full"), 0) << left.said();
  EXPECT_THAT(left.said(), HasSubstr("perdure: the end of the program: " + (left / "store") + ": 3 checkpoints (run"));
  EXPECT_FALSE(left.nothing_on_the_node()) << "the next start flushes them";
}

// perdured stores its versions by itself.
TEST(EndOfAnOrderlyProgram, LeavesTheRestToItsDaemon) {
  const Left left;
  EXPECT_EQ(left.run("PERDURE_ENGINE_DAEMON_PATH=" PERDURED_PATH " " PERDURE_LEAVER, "daemon"), 0) << left.said();
  EXPECT_TRUE(eventually("the daemon has stored all, and ended", [&] { return left.nothing_on_the_node(); }));
  EXPECT_EQ(left.stored(), kAll);
}

}  // namespace
}  // namespace perdure::test_support
