// Checks the claims of VeloC IPDPS'19, V-D to V-F, in the simulator on the shipped description of its node. Checks the
// promises of `adaptive`, too. One seed each; docs/emulated-devices.md has the figures.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "placement/sampling.hpp"
#include "simulate/oracle.hpp"

namespace perdure::simulate {
namespace {

constexpr double kNoise = 1.02;

Scenario shipped(const std::string& name, unsigned nodes, unsigned writers, unsigned chunks) {
  const std::string path = std::string(PERDURE_DEVICES) + "/" + name;
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Scenario scenario;
  scenario.node = device::parse_description(text.str(), path).value();
  scenario.nodes = nodes;
  scenario.writers = writers;
  scenario.chunks = chunks;
  scenario.max_simulated = 8;
  return scenario;
}
Scenario paper(unsigned writers, unsigned chunks) { return shipped("veloc-node.toml", 1, writers, chunks); }
Outcome of(const char* policy, const Scenario& scenario) {
  return run(scenario, *placement::find_policy(policy).value()).value();
}

TEST(Paper, WeakScalingHybridOptBeatsNaiveAndSsdOnlyAndIsCloseToTheIdeal) {
  const Scenario scenario = paper(256, 4);
  const Outcome opt = of("hybrid-opt", scenario), naive = of("hybrid-naive", scenario);
  EXPECT_GE(naive.local_phase_s, 1.4 * opt.local_phase_s);
  EXPECT_GE(naive.flush_completion_s, 2 * opt.flush_completion_s);
  EXPECT_GE(of("ssd-only", scenario).flush_completion_s, 2.5 * opt.flush_completion_s);
  EXPECT_LE(opt.flush_completion_s, 1.1 * of("cache-only", scenario).flush_completion_s);
  EXPECT_LT(opt.chunks[1], naive.chunks[1] / 4);
}

TEST(Paper, StrongScalingHybridOptBeatsNaiveAtEveryWriterCount) {
  for (unsigned writers = 1; writers <= 256; writers *= 2) {
    const Scenario scenario = paper(writers, 1024 / writers);
    EXPECT_LT(of("hybrid-opt", scenario).local_phase_s, of("hybrid-naive", scenario).local_phase_s) << writers;
  }
}

TEST(Paper, StrongScalingHybridOptIsSixTimesFasterThanSsdOnlyAt16Writers) {
  const Scenario scenario = paper(16, 64);
  EXPECT_GE(of("ssd-only", scenario).local_phase_s, 6 * of("hybrid-opt", scenario).local_phase_s);
}

TEST(Paper, HybridOptLosesLittleWithASmallCache) {
  for (unsigned writers : {16U, 64U}) {
    Scenario scenario = paper(writers, 1024 / writers);
    const double small = of("hybrid-opt", scenario).local_phase_s;
    scenario.node.tiers[0].capacity_bytes *= 4;
    // The cache itself holds 9 % more of the 64 GiB, which no policy can compensate.
    EXPECT_LE(small, 1.12 * of("hybrid-opt", scenario).local_phase_s) << writers;
  }
}

void expect_no_loss(const std::string& name, unsigned nodes, unsigned writers, unsigned chunks) {
  const Scenario scenario = shipped(name, nodes, writers, chunks);
  const Outcome opt = of("hybrid-opt", scenario), adaptive = of("adaptive", scenario);
  EXPECT_LE(adaptive.local_phase_s, kNoise * opt.local_phase_s) << name << " " << nodes << " " << writers;
  EXPECT_LE(adaptive.flush_completion_s, kNoise * opt.flush_completion_s) << name << " " << nodes << " " << writers;
}

TEST(Paper, AdaptiveNeverLosesToHybridOpt) {
  for (unsigned writers : {4U, 16U, 64U}) {
    for (unsigned nodes : {1U, 64U, 192U, 256U, 1024U, 16384U}) {
      expect_no_loss("veloc-node.toml", nodes, writers, 256 / writers);
      expect_no_loss("modern-node.toml", nodes, writers, 256 / writers);
    }
    expect_no_loss("laptop.toml", 1, writers, 256 / writers);
  }
}

// The goal is 10 %; the bounds are the reached values.
void expect_close_to_the_best(Scenario scenario) {
  scenario.max_simulated = 2;
  const Outcome best = oracle(scenario)->outcome, adaptive = of("adaptive", scenario);
  EXPECT_LE(adaptive.local_phase_s, 1.07 * best.local_phase_s) << scenario.nodes << " " << scenario.writers;
  EXPECT_LE(adaptive.flush_completion_s, 1.03 * best.flush_completion_s) << scenario.nodes << " " << scenario.writers;
}

TEST(Paper, AdaptiveIsCloseToTheBestPlanInHindsight) {
  for (unsigned nodes : {1U, 128U, 256U, 1024U})
    for (unsigned writers : {4U, 16U, 64U})
      expect_close_to_the_best(shipped("veloc-node.toml", nodes, writers, 256 / writers));
}

// A node's share of the store is 1.45 to 1.02 times the rate at which flushes read its SSD. So the number of chunks
// left there decides. With half of the chunks that can be read in time, the local phase of 192 nodes was 23 % longer
// than the best.
TEST(Paper, AdaptiveIsCloseToTheBestWhereTheSsdReadsHardlyMoreSlowlyThanTheStoreTakes) {
  for (unsigned nodes : {128U, 160U, 192U, 208U}) {
    expect_close_to_the_best(shipped("veloc-node.toml", nodes, 16, 32));
    expect_no_loss("veloc-node.toml", nodes, 16, 32);
  }
  expect_close_to_the_best(shipped("veloc-node.toml", 128, 8, 21));
}

// There is a small fast tier, and a store three times as fast as the SSD: chunks left there make it end later.
TEST(Paper, AdaptiveEndsNoLaterThanHybridOptWhereNothingCanBeLeftOnTheSsd) {
  for (const Scenario& scenario : {paper(64, 4), shipped("veloc-node.toml", 8, 8, 10)}) {
    const double opt = of("hybrid-opt", scenario).flush_completion_s;
    EXPECT_LE(of("adaptive", scenario).flush_completion_s, 1.005 * opt) << scenario.nodes;
  }
}

// For the other two, worst errors reach 29 % near 4 streams: a step of 10 cannot see a kink below it.
TEST(Paper, ATenthOfTheMeasurementsPredictsTheShippedDevices) {
  for (const char* name : {"veloc-node.toml", "modern-node.toml", "laptop.toml"}) {
    const Scenario scenario = shipped(name, 1, 256, 1);
    const auto models = calibrate(scenario).value();
    for (std::size_t i = 0; i < models.size(); ++i) {
      std::vector<placement::Sample> every;
      for (unsigned k = 1; k <= 256; ++k) every.push_back({k, scenario.node.tiers[i].throughput.at(k)});
      const auto result = placement::accuracy(models[i], every);
      EXPECT_LT(result.mean_error, 0.05) << name << " " << i;
      EXPECT_LT(result.worst_error, std::string(name) == "veloc-node.toml" ? 0.15 : 0.3)
          << name << " " << i << " at " << result.worst_writers;
    }
  }
}

}  // namespace
}  // namespace perdure::simulate
