#include <gmock/gmock.h>

#include "process/registers.hpp"

namespace perdure::process {
namespace {

using Found = std::vector<std::pair<int, std::string>>;
constexpr std::array<RegisterSet, 3> kThree = {{{2, false}, {0x405, true}, {0x401, false}}};

base::ConstByteSpan as_set(std::string_view text) { return base::as_bytes(text); }

/// Nothing where they are no sets.
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

}  // namespace
}  // namespace perdure::process
