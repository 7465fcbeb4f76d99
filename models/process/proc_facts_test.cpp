#include "process/proc_facts.hpp"

#include <gmock/gmock.h>

namespace perdure::process {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(StatNumbers, AreCountedBehindAnyName) {
  const StatNumbers stat("812 (a) (b) 3) S 7 812 812 -1 0\n");
  EXPECT_EQ(stat.value(4), 7U);
  EXPECT_EQ(stat.value(5), 812U);
  EXPECT_EQ(stat.value(7), ~std::uint64_t{0}) << "-1";
  EXPECT_EQ(stat.value(8), 0U);
  EXPECT_EQ(stat.value(30), 0U) << "it is not there";
  EXPECT_EQ(stat.value(1), 0U);
  EXPECT_EQ(StatNumbers("").value(4), 0U);
}

TEST(FirstNumbers, AreThoseBehindTheKey) {
  const std::string text = "Name:\tSigCgt: 3\nUmask:\t0022\nUid:\t1000\t0\t0\t0\nSigCgt:\t00000001800004c8\n";
  EXPECT_EQ(first_number(text, "Umask", 8), 18U);
  EXPECT_EQ(first_number(text, "Uid"), 1000U);
  EXPECT_EQ(first_number(text, "SigCgt", 16), 0x1800004c8U);
  EXPECT_EQ(first_number(text, "Gid"), 0U);
}

TEST(TextsThatEndWithZeros, MayBeEmpty) {
  using std::literals::operator""sv;
  EXPECT_THAT(split_at_zeros("a\0\0b c\0"sv), ElementsAre("a", "", "b c"));
  EXPECT_THAT(split_at_zeros("cut"sv), ElementsAre("cut"));
  EXPECT_THAT(split_at_zeros(""sv), ElementsAre());
}

TEST(SmapsFlags, BelongToTheMappingBefore) {
  const std::string text =
      "00400000-00401000 r-xp 00000000 fe:00 41 /bin/VmFlags: x\nSize: 4 kB\nVmFlags: rd ex mr mw me \n"
      "7ffc0000000-7ffc0021000 rw-p 00000000 00:00 0 [stack]\nVmFlags: rd wr gd \n";
  EXPECT_THAT(parse_smaps_flags(text), ElementsAre(Pair(0x400000, ElementsAre("rd", "ex", "mr", "mw", "me")),
                                                   Pair(0x7ffc0000000, ElementsAre("rd", "wr", "gd"))));
}

TEST(Policies, AreTheSecondWord) {
  EXPECT_THAT(parse_policies("00400000 default file=/bin/x N0=3\n7f00 bind:0-1 anon=2 dirty=2 N1=2\nrest\n"),
              ElementsAre(Pair(0x7f00, "bind:0-1"), Pair(0x400000, "default")));
}

TEST(SoleNodes, AreThoseWithAllPagesOfAMapping) {
  const auto nodes = parse_sole_nodes(
      "55d000 default file=/usr/bin/N0=1 mapped=2 N1=2 kernelpagesize_kB=4\n"
      "7f0000 bind:0-1 anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4\n"
      "7f8000 default\n7f9000 default anon=1 N12=1\nnothing\n");
  EXPECT_EQ(nodes, (SoleNodes{{0x55d000, 1}, {0x7f0000, std::nullopt}, {0x7f8000, std::nullopt}, {0x7f9000, 12}}));
}

}  // namespace
}  // namespace perdure::process
