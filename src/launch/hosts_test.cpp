#include "launch/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perdure::launch {
namespace {

using testing::HasSubstr;

std::string said(const base::Result<std::vector<Host>>& hosts) {
  if (!hosts) return "refused: " + hosts.error().text();
  std::string text;
  for (const Host& host : *hosts) text += host.name + "/" + std::to_string(host.slots) + "/" + host.line + ";";
  return text;
}

TEST(Hosts, OfAListMayHaveSlots) {
  EXPECT_EQ(said(hosts_of_list("a")), "a/0/a;");
  EXPECT_EQ(said(hosts_of_list("a, b:3,node-7.cluster")), "a/0/a;b/3/b slots=3;node-7.cluster/0/node-7.cluster;");
}

TEST(Hosts, OfAFileStandOnePerLineWithCommentsAndWhatTheLauncherWants) {
  EXPECT_EQ(said(hosts_of_file("# ours\n\n a slots=2 max_slots=4 # old\r\nb:16\n\tc\nd port=7", "f")),
            "a/2/a slots=2 max_slots=4;b/16/b:16;c/0/c;d/0/d port=7;");
  EXPECT_EQ(said(hosts_of_file("a max_slots=3\n", "f")), "a/0/a max_slots=3;");
}

TEST(Hosts, ThatCannotBeUnderstoodAreRefusedWithTheirPlace) {
  for (const char* list : {"", ",", "a,", "a,,b", ":2", "-x", "a:0", "a:many", "a:", "a:-1"})
    EXPECT_THAT(said(hosts_of_list(list)), HasSubstr("refused: --hosts")) << list;
  EXPECT_THAT(said(hosts_of_file("a\n\nb slots=x\n", "my/hosts")), HasSubstr("my/hosts line 3: 'x' is not a number"));
  EXPECT_THAT(said(hosts_of_file("a slots=99999999999999999999\n", "f")), HasSubstr("f line 1"));
  EXPECT_THAT(said(hosts_of_file("# nobody\n\n", "f")), HasSubstr("f: it names no host"));
  EXPECT_THAT(said(hosts_of_file("", "f")), HasSubstr("it names no host"));
}

TEST(Hosts, AreNamedOnce) {
  EXPECT_THAT(said(hosts_of_list("a,b,a:2")), HasSubstr("the host a is there twice"));
  EXPECT_THAT(said(hosts_of_file("a\na slots=2\n", "f")), HasSubstr("f line 2: the host a is there twice"));
}

TEST(Hosts, GetOtherSlotsWhereTheirLineSaysSome) {
  const auto hosts = hosts_of_file("a slots=2 max_slots=4\nb:16\nc\nslots=2\nd max_slots=2 slots=2", "f").value();
  EXPECT_EQ(line_with_slots(hosts[0], 11), "a slots=11 max_slots=4");
  EXPECT_EQ(line_with_slots(hosts[1], 11), "b:11");
  EXPECT_EQ(line_with_slots(hosts[2], 11), "c");
  EXPECT_EQ(line_with_slots(hosts[3], 11), "slots=2") << "a host with an odd name";
  EXPECT_EQ(line_with_slots(hosts[4], 11), "d max_slots=2 slots=11");
}

}  // namespace
}  // namespace perdure::launch
