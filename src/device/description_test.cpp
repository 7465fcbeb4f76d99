#include "device/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace perdure::device {
namespace {

using testing::HasSubstr;

constexpr const char* kGood = R"(
name = "two tiers"
time_scale = 0.5
tiers = ["cache", "ssd"]
[tier.cache]
streams = [1, 8]
bytes_per_s = ["4GB", "20GB"]
capacity = "2GB"
[tier.ssd]
streams = [1, 16, 256]
bytes_per_s = ["100MB", "700MB", "300MB"]
latency_s = 0.001
slump_factor = 0.01
slump_from_s = 3
[store]
streams = [1, 16]
bytes_per_s = ["300MB", "2GB"]
variability = 0.2
variability_period_s = 5
slump_factor = 0.5
slump_from_s = 1
slump_until_s = 2
nodes = [1, 100]
total_bytes_per_s = ["2GB", "100GB"]
)";

TEST(Description, ReadsTiersInTheirOrderAndTheStore) {
  const auto node = parse_description(kGood, "x.toml").value();
  EXPECT_EQ(node.name, "two tiers");
  EXPECT_DOUBLE_EQ(node.time_scale, 0.5);
  ASSERT_EQ(node.tiers.size(), 2u);
  EXPECT_EQ(node.tiers[0].name, "cache");
  EXPECT_EQ(node.tiers[0].capacity_bytes, 2'000'000'000u);
  EXPECT_EQ(node.tiers[1].capacity_bytes, 0u);
  EXPECT_DOUBLE_EQ(node.tiers[1].throughput.at(1), 100e6);
  EXPECT_DOUBLE_EQ(node.tiers[1].throughput.at(8.5), 400e6);
  EXPECT_DOUBLE_EQ(node.tiers[1].throughput.at(1000), 300e6);
  EXPECT_DOUBLE_EQ(node.tiers[1].latency_s, 0.001);
  EXPECT_DOUBLE_EQ(node.store.variability.amplitude, 0.2);
  EXPECT_DOUBLE_EQ(node.store.variability.period_s, 5);
  EXPECT_DOUBLE_EQ(node.tiers[1].variability.factor(1e9), 0.01) << "for ever";
  EXPECT_DOUBLE_EQ(node.tiers[1].variability.factor(2.9), 1);
  EXPECT_DOUBLE_EQ(node.store.variability.slump_until_s, 2);
  EXPECT_DOUBLE_EQ(share_of_store(node, 1), 2e9);
  EXPECT_DOUBLE_EQ(share_of_store(node, 100), 1e9);
  EXPECT_DOUBLE_EQ(share_of_store(node, 1000), 1e8);
}

std::string refusal(const std::string& from, const std::string& to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  const auto node = parse_description(text, "x.toml");
  if (node) return "accepted";
  EXPECT_EQ(node.error().code, PERDURE_INVALID_ARGUMENT);
  return node.error().text();
}

TEST(Description, RefusesWhatMakesNoSenseAndNamesTheKey) {
  EXPECT_THAT(refusal("[tier.cache]", "[tier.cache"), HasSubstr("x.toml line"));
  EXPECT_THAT(refusal("tiers = [\"cache\", \"ssd\"]", ""), HasSubstr("x.toml: tiers"));
  EXPECT_THAT(refusal("\"ssd\"]", "\"hdd\"]"), HasSubstr("tier.hdd.bytes_per_s: has no points"));
  EXPECT_THAT(refusal("[1, 16, 256]", "[1, 16]"), HasSubstr("one value for each of tier.ssd.streams"));
  EXPECT_THAT(refusal("[1, 16, 256]", "[1, 256, 16]"), HasSubstr("tier.ssd.bytes_per_s: its counts do not ascend"));
  EXPECT_THAT(refusal("[1, 16, 256]", "[0, 16, 256]"), HasSubstr("ascend from 1 on"));
  EXPECT_THAT(refusal("[1, 16, 256]", "[1, \"x\", 256]"), HasSubstr("'x' is not a number"));
  EXPECT_THAT(refusal("\"700MB\"", "\"0\""), HasSubstr("not positive"));
  EXPECT_THAT(refusal("\"700MB\"", "\"fast\""), HasSubstr("tier.ssd.bytes_per_s"));
  EXPECT_THAT(refusal("latency_s = 0.001", "latency_s = -1"),
              HasSubstr("tier.ssd.latency_s: '-1' is out of its range"));
  EXPECT_THAT(refusal("latency_s = 0.001", "latency_s = nan"), HasSubstr("not a number"));
  EXPECT_THAT(refusal("latency_s = 0.001", "latencies_s = 1"), HasSubstr("tier.ssd.latencies_s: is not known"));
  EXPECT_THAT(refusal("variability = 0.2", "variability = 1"), HasSubstr("store.variability"));
  EXPECT_THAT(refusal("slump_factor = 0.01", "slump_factor = 0"), HasSubstr("tier.ssd.slump_factor: '0' is out of"));
  EXPECT_THAT(refusal("slump_until_s = 2", "slump_until_s = 0.5"), HasSubstr("store.slump_until_s: '0.5' is out of"));
  EXPECT_THAT(refusal("total_bytes_per_s", "total"), HasSubstr("store.total_bytes_per_s"));
  EXPECT_THAT(refusal("time_scale = 0.5", "time_scale = 0"), HasSubstr("time_scale"));
  EXPECT_THAT(refusal("[store]", "[shop]"), HasSubstr("store.bytes_per_s: has no points"));
}

TEST(Description, EveryDescriptionThatIsShippedIsGood) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PERDURE_DEVICES)) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const auto node = parse_description(text.str(), entry.path().filename());
    ASSERT_TRUE(node) << node.error().text();
    EXPECT_GE(node->tiers.size(), 2u);
    EXPECT_GT(node->tiers[0].capacity_bytes, 0u) << "the first tier is the small one";
    EXPECT_GT(share_of_store(*node, 1), share_of_store(*node, 10'000)) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 3u);
}

}  // namespace
}  // namespace perdure::device
