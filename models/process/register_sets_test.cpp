#include <gmock/gmock.h>
#include <sys/syscall.h>

#include "process/registers.hpp"

namespace perdure::process {
namespace {

using Found = std::vector<std::pair<int, std::string>>;
constexpr std::array<RegisterSet, 3> kThree = {{{2, false}, {0x405, true}, {0x401, false}}};

base::ConstByteSpan as_set(std::string_view text) { return base::as_bytes(text); }

/// Returns nothing if `extended` is malformed.
std::optional<Found> sets_in(base::ConstByteSpan extended, std::span<const RegisterSet> sets) {
  Found found;
  const auto add = [&](int set, base::ConstByteSpan bytes) {
    found.emplace_back(set, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  };
  return each_register_set(extended, sets, add) ? std::optional(found) : std::nullopt;
}

TEST(RegisterSets, OfSeveralComeBackEachWithItsNumber) {
  std::vector<std::byte> extended;
  add_register_set(extended, kThree, 2, as_set("floating point"));
  add_register_set(extended, kThree, 0x405, {});
  add_register_set(extended, kThree, 0x401, as_set("thread"));
  EXPECT_EQ(sets_in(extended, kThree), (Found{{2, "floating point"}, {0x405, ""}, {0x401, "thread"}}));
  for (const std::size_t length : {1UL, 7UL, 9UL, extended.size() - 1})
    EXPECT_EQ(sets_in(base::ConstByteSpan(extended).first(length), kThree), std::nullopt) << length;
  extended[0] = std::byte{3};
  EXPECT_EQ(sets_in(extended, kThree), std::nullopt) << "there is no set of this number";
  EXPECT_EQ(sets_in({}, kThree), Found());
}

TEST(RegisterSets, OfOneAreStoredAsTheyAre) {
  const auto one = std::span(kThree).first(1);
  std::vector<std::byte> extended;
  add_register_set(extended, one, 2, as_set("all"));
  EXPECT_EQ(extended.size(), 3U);
  EXPECT_EQ(sets_in(extended, one), (Found{{2, "all"}}));
}

TEST(RegisterSets, OfThisArchitectureHaveOneThatIsAlwaysThere) {
  const auto sets = extended_register_sets();
  EXPECT_TRUE(std::any_of(sets.begin(), sets.end(), [](const RegisterSet& set) { return !set.may_lack; }));
}

#if defined(__x86_64__)
constexpr std::int64_t kNoHandler = -514, kRestartBlock = -516;

Registers interrupted(std::uint64_t call, std::uint64_t first, std::uint64_t second, std::uint64_t third,
                      std::int64_t answer = kRestartBlock) {
  Registers registers{};
  registers.orig_rax = call;
  registers.rdi = first;
  registers.rsi = second;
  registers.rdx = third;
  registers.rax = static_cast<std::uint64_t>(answer);
  return registers;
}

std::vector<std::byte> code_of(std::initializer_list<int> bytes) {
  std::vector<std::byte> code;
  for (const int one : bytes) code.push_back(static_cast<std::byte>(one));
  return code;
}

Registers stored_with(const Registers& registers, const std::vector<std::byte>& code) {
  return to_store(registers, [&] { return code; });
}

TEST(StoredRegisters, OfACallThatWasInterruptedBeginItAgain) {
  const auto nobody_asks = []() -> std::vector<std::byte> {
    ADD_FAILURE() << "the code is not needed";
    return {};
  };
  const Registers stored = to_store(interrupted(SYS_poll, 0, 0, 5), nobody_asks);
  EXPECT_EQ(stored.orig_rax, SYS_poll);
  EXPECT_EQ(answer_of(stored), kNoHandler);
  EXPECT_EQ(answer_of(to_store(interrupted(SYS_read, 0, 0, 5, 17), nobody_asks)), 17) << "it is over";
}

TEST(StoredRegisters, OfACallThatWasInterruptedTwiceBeginTheProgramsOwn) {
  const auto polls = code_of({0xb8, 7, 0, 0, 0, 0x0f, 5});
  const auto apart = code_of({0x90, 0xb8, 7, 0, 0, 0, 0x89, 0xd6, 0x0f, 5});
  for (const auto& code : {polls, apart}) {
    const Registers stored = stored_with(interrupted(SYS_restart_syscall, 0, 0, 5), code);
    EXPECT_EQ(stored.orig_rax, SYS_poll);
    EXPECT_EQ(answer_of(stored), kNoHandler);
  }
  const auto sleeps = code_of({0xb8, 7, 0, 0, 0, 0xb8, 35, 0, 0, 0, 0x0f, 5});
  EXPECT_EQ(stored_with(interrupted(SYS_restart_syscall, 4096, 0, 5), sleeps).orig_rax, SYS_nanosleep)
      << "the last counts";
  EXPECT_EQ(stored_with(interrupted(SYS_restart_syscall, 4096, 3, ~0U), polls).orig_rax, SYS_poll) << "without an end";
}

TEST(StoredRegisters, OfACallThatNobodyKnowsAreTheKernelsOwn) {
  const auto asked = [](std::initializer_list<int> code, std::uint64_t third = 5) {
    const Registers stored = stored_with(interrupted(SYS_restart_syscall, 0, 0, third), code_of(code));
    EXPECT_EQ(answer_of(stored), kNoHandler);
    return stored.orig_rax;
  };
  EXPECT_EQ(asked({}), SYS_restart_syscall);
  EXPECT_EQ(asked({0x0f, 5}), SYS_restart_syscall);
  EXPECT_EQ(asked({7, 0, 0, 0, 0x0f, 5}), SYS_restart_syscall) << "its begin cannot be read";
  EXPECT_EQ(asked({0xb8, 7, 0, 0, 0, 0x0f, 0x34}), SYS_restart_syscall) << "another instruction";
  EXPECT_EQ(asked({0xb8, 1, 0, 0, 0, 0x0f, 5}), SYS_restart_syscall) << "a call that is never gone on with";
  EXPECT_EQ(asked({0xb8, 7, 0, 0, 0, 0x0f, 5}, 0), SYS_restart_syscall) << "which would not have waited";
  EXPECT_EQ(asked({0xb8, 7, 0, 0, 0, 0x0f, 5, 0x0f, 5}), SYS_restart_syscall) << "another call's";
  EXPECT_EQ(asked({0xb8, 7, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0x0f, 5}), SYS_restart_syscall) << "it was overwritten";
}
#endif

}  // namespace
}  // namespace perdure::process
