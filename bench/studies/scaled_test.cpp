#include "scaled.hpp"

#include <gtest/gtest.h>

#include "cells.hpp"
#include "testing.hpp"

namespace perdure::studies {
namespace {

TEST(Scaled, AScenarioInSmallTakesAsLong) {
  const auto driver = simulator_driver();
  const Context context = veloc_node(*driver);
  simulate::Scenario scenario = paper_scenario(context, 16, 8);
  scenario.nodes = 64;
  scenario.max_simulated = 2;
  const simulate::Scenario small = scaled(scenario, 1024);
  EXPECT_EQ(small.chunk_bytes, 65536u);
  EXPECT_EQ(small.node.tiers.front().capacity_bytes, 2U << 20U);
  for (const auto& policy : placement::policies()) {
    const auto large = simulate::run(scenario, policy).value(), same = simulate::run(small, policy).value();
    EXPECT_EQ(same.chunks, large.chunks) << policy.name;
    EXPECT_NEAR(same.local_phase_s, large.local_phase_s, 1e-3 * large.local_phase_s) << policy.name;
    EXPECT_NEAR(same.flush_completion_s, large.flush_completion_s, 1e-3 * large.flush_completion_s) << policy.name;
  }
}

TEST(Scaled, ADescriptionIsReadBackAsTheSameNode) {
  const auto driver = simulator_driver();
  simulate::Scenario scenario = paper_scenario(veloc_node(*driver), 1, 1);
  scenario.node.time_scale = 0.03;
  const device::Node node = scaled(scenario, 1024).node;
  const std::string text = description_of(node);
  const auto read = device::parse_description(text, "test");
  ASSERT_TRUE(read) << read.error().text() << "\n" << text;
  EXPECT_EQ(description_of(*read), text);
  EXPECT_EQ(read->time_scale, 0.03);
  ASSERT_EQ(read->tiers.size(), 2u);
  EXPECT_EQ(read->tiers[1].name, "ssd");
  EXPECT_EQ(read->tiers[1].capacity_bytes, node.tiers[1].capacity_bytes);
  EXPECT_EQ(read->tiers[1].latency_s, 0.0002);
  EXPECT_EQ(read->tiers[1].variability.amplitude, 0.05);
  for (const double streams : {1.0, 3.0, 256.0})
    EXPECT_EQ(read->tiers[1].throughput.at(streams), node.tiers[1].throughput.at(streams));
  EXPECT_EQ(device::share_of_store(*read, 256), device::share_of_store(node, 256));
}

TEST(Scaled, AStoreWithoutSharersStaysOne) {
  device::Node node;
  node.tiers.resize(1);
  node.tiers.front().name = "only";
  simulate::Scenario scenario;
  scenario.node = node;
  const auto read = device::parse_description(description_of(scaled(scenario, 1024).node), "test");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(device::share_of_store(*read, 1000), device::share_of_store(node, 1000));
}

}  // namespace
}  // namespace perdure::studies
