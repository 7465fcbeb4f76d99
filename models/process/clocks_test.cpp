#include "process/clocks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace perdure::process {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

TEST(Clocks, OffsetsAreReadAsTheKernelSaysThem) {
  EXPECT_EQ(parse_offsets("monotonic           86400         5\nboottime            -7     999999999\n"),
            (ClockImage{86'400 * kSecond_ns + 5, -7 * kSecond_ns + 999'999'999}));
  EXPECT_EQ(parse_offsets(""), ClockImage()) << "a kernel without name spaces of time";
  EXPECT_EQ(parse_offsets("monotonic x\n"), ClockImage());
}

TEST(Clocks, OffsetsAreWrittenAsTheyAreRead) {
  for (const std::int64_t ns :
       {std::int64_t{0}, std::int64_t{1}, -std::int64_t{1}, 5 * kSecond_ns, -5 * kSecond_ns - 3}) {
    const auto made = text_of_offsets({ns, -ns});
    EXPECT_EQ(parse_offsets({made.text.data(), made.bytes}), (ClockImage{ns, -ns})) << ns;
  }
}

TEST(Clocks, AreShiftedOnlyWhereTheyWouldGoBack) {
  EXPECT_EQ(shift_to({10, 20}, {15, 25}), ClockImage());
  EXPECT_EQ(shift_to({10, 20}, {4, 25}), (ClockImage{6, 0}));
  EXPECT_EQ(shift_to({10, 20}, {4, 5}), (ClockImage{6, 15}));
}

// Children made afterwards have this process's clocks again.
TEST(Clocks, OfChildrenAreAheadWhileThatIsAskedFor) {
  const auto child_is_ahead = [] {
    const ClockImage here = clocks_of(::getpid());
    const pid_t child = ::fork();
    if (child == 0) {
      const ClockImage its = clocks_of(::getpid());
      ::_exit(its.monotonic_ns - here.monotonic_ns > 500 * kSecond_ns ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WEXITSTATUS(status) == 1;
  };
  {
    const auto ahead = ShiftedChildren::begin({1000 * kSecond_ns, 2000 * kSecond_ns});
    if (!ahead) GTEST_SKIP() << ahead.error().text();
    EXPECT_TRUE(child_is_ahead());
  }
  EXPECT_FALSE(child_is_ahead());
}

}  // namespace
}  // namespace perdure::process
