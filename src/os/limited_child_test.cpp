#include "os/limited_child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <stdexcept>
#include <vector>

namespace perdure::os {
namespace {

using testing::HasSubstr;
using Output = LimitedChild::Output;

constexpr LimitedChild::Limits kLimits{256 * base::MiB, 1};

LimitedChild child_of(const std::function<void(Output&)>& work) {
  auto child = LimitedChild::start(kLimits, work);
  EXPECT_TRUE(child) << child.error().text();
  return std::move(*child);
}

// Returns how a child ended that wrote nothing.
std::string end_of(const std::function<void(Output&)>& work) {
  LimitedChild child = child_of(work);
  std::byte one{};
  EXPECT_FALSE(child.hear(std::span(&one, 1)));
  return child.end();
}

TEST(LimitedChildren, AreHeardToTheEnd) {
  std::vector<std::byte> large(3 * base::MiB);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::byte>(i % 251);
  LimitedChild child = child_of([&](Output& output) { output.say(large); });
  std::vector<std::byte> heard(large.size());
  EXPECT_TRUE(child.hear(heard));
  EXPECT_EQ(heard, large);
  std::byte more{};
  EXPECT_FALSE(child.hear(std::span(&more, 1)));
  EXPECT_EQ(child.end(), "it ended in the middle, with status 0");
}

TEST(LimitedChildren, ThatCrashAreNamedByTheirSignal) {
  EXPECT_THAT(end_of([](Output&) { (void)::raise(SIGKILL); }), HasSubstr("signal 9 (Killed)"));
}

TEST(LimitedChildren, ThatThrowEndInTheMiddle) {
  EXPECT_EQ(end_of([](Output&) { throw std::runtime_error("no"); }), "it ended in the middle, with status 125");
}

TEST(LimitedChildren, WithoutEndAreEndedAfterTheTimeOfAStep) {
  EXPECT_EQ(end_of([](Output&) {
              for (volatile unsigned i = 0;;) i = i + 1;
            }),
            "it took more than 1 s of a processor for one step");
}

// Together the steps take more time than one step may.
TEST(LimitedChildren, HaveTheTimeOfAStepForEach) {
  LimitedChild child = child_of([](Output& output) {
    for (int step = 0; step < 4; ++step) {
      output.step();
      for (const auto begun = std::clock(); std::clock() - begun < CLOCKS_PER_SEC * 3 / 4;) continue;
    }
    const std::byte done{1};
    output.say(std::span(&done, 1));
  });
  std::byte done{};
  EXPECT_TRUE(child.hear(std::span(&done, 1)));
}

TEST(LimitedChildren, EndWithWhoHearsThem) {
  pid_t process = 0;
  {
    LimitedChild child = child_of([](Output& output) {
      const pid_t own = ::getpid();
      output.say(std::as_bytes(std::span(&own, 1)));
      for (;;) ::pause();
    });
    ASSERT_TRUE(child.hear(std::as_writable_bytes(std::span(&process, 1))));
    EXPECT_EQ(::kill(process, 0), 0);
  }
  EXPECT_EQ(::kill(process, 0), -1) << "it is no zombie either";
}

}  // namespace
}  // namespace perdure::os
