#include "process/memory_policy.hpp"

#include <gmock/gmock.h>

#include "process/proc_facts.hpp"

namespace perdure::process {
namespace {

using testing::ElementsAre;
using Nodes = std::vector<std::uint32_t>;

constexpr std::int32_t kStaticFlag = 1 << 15, kRelativeFlag = 1 << 14;

TEST(MemoryPolicies, AreReadAsTheKernelWritesThem) {
  EXPECT_EQ(parse_policy("default"), (MemoryPolicy{0, {}}));
  EXPECT_EQ(parse_policy("prefer:1"), (MemoryPolicy{1, {1}}));
  EXPECT_EQ(parse_policy("bind:0-1"), (MemoryPolicy{2, {0, 1}}));
  EXPECT_EQ(parse_policy("interleave:0,2-3"), (MemoryPolicy{3, {0, 2, 3}}));
  EXPECT_EQ(parse_policy("local"), (MemoryPolicy{4, {}}));
  EXPECT_EQ(parse_policy("prefer (many):0-1"), (MemoryPolicy{5, {0, 1}}));
  EXPECT_EQ(parse_policy("weighted interleave:0"), (MemoryPolicy{6, {0}}));
  EXPECT_EQ(parse_policy("bind=static:1"), (MemoryPolicy{2 | kStaticFlag, {1}}));
  EXPECT_EQ(parse_policy("bind=relative|balancing:1"), (MemoryPolicy{2 | kRelativeFlag, {1}}));
}

TEST(MemoryPolicies, ThatAreNoneAreRefused) {
  for (const char* text : {"", "bound:1", "bind:", "bind:x", "bind:0-", "bind=:", "bind=sticky:1", "bind:2000", ":1"})
    EXPECT_EQ(parse_policy(text), std::nullopt) << text;
}

TEST(MemoryPolicies, AreWrittenAsTheyAreRead) {
  for (const char* text : {"default", "local", "bind:0,1", "prefer (many)=static:3", "interleave=relative:0,5,700"})
    EXPECT_EQ(policy_text(parse_policy(text).value()), text);
}

TEST(MemoryPolicies, ComeToOtherNodes) {
  const auto half = [](std::uint32_t node) { return node < 8 ? std::optional(node / 2) : std::nullopt; };
  EXPECT_EQ(on_nodes({3, {0, 1, 5}}, half), (MemoryPolicy{3, {0, 2}}));
  EXPECT_EQ(on_nodes({2, {5, 9}}, half), (MemoryPolicy{2, {2}}));
  EXPECT_EQ(on_nodes({2, {9}}, half), std::nullopt);
  EXPECT_EQ(on_nodes({4, {}}, half), (MemoryPolicy{4, {}}));
  const auto turned = [](std::uint32_t node) { return std::optional(3 - node); };
  EXPECT_EQ(on_nodes({3, {0, 1}}, turned), (MemoryPolicy{3, {2, 3}})) << "ascending";
}

TEST(MemoryPolicies, HaveTheBitsOfTheirNodes) {
  const auto words = node_words({0, 65, 5000});
  ASSERT_EQ(words.size(), 16U);
  EXPECT_EQ(words[0], 1U);
  EXPECT_EQ(words[1], 2U);
}

TEST(MemoryPolicies, OfNumaMapsMayHaveABlank) {
  const auto policies = parse_policies(
      "7f0000000000 bind:0-1 anon=3 dirty=3 N0=3 kernelpagesize_kB=4\n"
      "7f0000100000 prefer (many)=static:1 anon=1 N1=1\n"
      "7f0000200000 weighted interleave:0-1 anon=1 N1=1\n"
      "7f0000300000 default file=/usr/bin/a\\040(many) mapped=1\n");
  EXPECT_EQ(policies.at(0x7f0000000000), "bind:0-1");
  EXPECT_EQ(policies.at(0x7f0000100000), "prefer (many)=static:1");
  EXPECT_EQ(policies.at(0x7f0000200000), "weighted interleave:0-1");
  EXPECT_EQ(policies.at(0x7f0000300000), "default");
}

}  // namespace
}  // namespace perdure::process
