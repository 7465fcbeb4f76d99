// Compares the run-time increase of an application that checkpoints with a synchronous writer of one shared file (VeloC
// IPDPS'19, V-G, Fig. 8). Applications are modelled by their step times and do not run: see docs/results/.
#include <algorithm>

#include "cells.hpp"
#include "simulate/oracle.hpp"
#include "synchronous.hpp"

namespace perdure::studies {
namespace {

constexpr double kInterference = 0.05;  // assumed slowdown of computation while flushes run
// The share of the store's throughput that one file of all ranks reaches. It is inferred from one figure of the paper:
// ssd-only is about as fast as the synchronous writer on 8 nodes. So that ratio confirms nothing. The row
// synchronous-ideal uses 1.
constexpr double kSharedFileEfficiency = 0.21;
constexpr unsigned kCheckpoints = 3;

/// `interval_s` between checkpoints is the number of steps times the step time. Our heat2d needs 0.7 ns per cell and
/// core and saves 8 bytes of it. Our nbody needs 4 ns per pair and core and saves 6.2 kB per body (with its
/// trajectory). Both were measured on one core of a 2020s server; nodes have 64 cores.
struct Application {
  const char* name;
  unsigned nodes;
  unsigned chunks;  ///< per rank, 8 ranks per node
  double interval_s;
};
// For heat2d, as much data as HACC in the paper, 5 and 11 GB per node; 10,000 steps of 7.3 and 16 ms. For nbody,
// 262,144 bodies per node, 1.6 GB; 3 steps of 34 s and 1 step of 550 s.
constexpr Application kApplications[] = {
    {"heat2d", 8, 10, 73}, {"heat2d", 128, 21, 160}, {"nbody", 8, 3, 103}, {"nbody", 128, 3, 550}};

/// Returns how much one checkpoint adds. The next one waits for this one's flush, so that no backlog grows.
double increase_s(double local_phase_s, double flush_completion_s, double interval_s) {
  const double behind = std::max(flush_completion_s - local_phase_s, 0.0);
  return local_phase_s + kInterference * std::min(behind, interval_s) + std::max(behind - interval_s, 0.0);
}

Row run_of(const std::vector<Row>& checkpoints, const Application& application) {
  Row run = checkpoints.front();
  run.application = application.name;
  run.local_phase_s = run.flush_completion_s = 0;
  double increase = 0, ssd_chunks = 0;
  for (const Row& row : checkpoints) {
    run.local_phase_s += row.local_phase_s / kCheckpoints;
    run.flush_completion_s += row.flush_completion_s / kCheckpoints;
    ssd_chunks += static_cast<double>(row.ssd_chunks);
    increase += increase_s(row.local_phase_s, row.flush_completion_s, application.interval_s);
  }
  run.ssd_chunks = static_cast<std::uint64_t>(ssd_chunks / kCheckpoints);  // all figures are those of one checkpoint
  run.extra["increase_s"] = increase;
  run.extra["increase_of_run_time"] = increase / (kCheckpoints * application.interval_s);
  return run;
}

/// Runs one checkpoint with every policy and reference: rows in the same order every time.
base::Result<std::vector<Row>> one_checkpoint(const Context& context, const simulate::Scenario& scenario) {
  Context once = context;
  once.repetitions = 1;
  once.seed = scenario.seed;
  once.progress = nullptr;
  PERDURE_TRY(auto rows, run_cells(once, {scenario}));
  for (const auto& [policy, efficiency] :
       {std::pair<const char*, double>{"synchronous", kSharedFileEfficiency}, {"synchronous-ideal", 1.0}}) {
    Row row = row_of(scenario, {});
    row.policy = policy;
    row.driver = "simulator";
    row.local_phase_s = row.flush_completion_s = synchronous_write_s(scenario, efficiency);
    rows.push_back(std::move(row));
  }
  return rows;
}

base::Status run_application(const Context& context, const Application& application, unsigned repetition,
                             std::vector<Row>& rows) {
  simulate::Scenario scenario = paper_scenario(context, 8, application.chunks);
  scenario.nodes = application.nodes;
  std::vector<std::vector<Row>> checkpoints;
  for (unsigned i = 0; i < kCheckpoints; ++i) {
    scenario.seed = context.seed + repetition * kCheckpoints + i;
    PERDURE_TRY(auto found, one_checkpoint(context, scenario));
    checkpoints.push_back(std::move(found));
  }
  for (std::size_t policy = 0; policy < checkpoints.front().size(); ++policy) {
    std::vector<Row> of_policy;
    for (const auto& all : checkpoints) of_policy.push_back(all[policy]);
    rows.push_back(run_of(of_policy, application));
    rows.back().repetition = repetition;
  }
  return {};
}

double increase(const Row& row) { return row.extra.at("increase_s"); }

std::vector<Goal> claims(const Medians& medians) {
  std::vector<Goal> goals;
  struct Claim {
    unsigned nodes;
    const char* policy;
    double paper;
  };
  for (const Cell& cell : medians.cells())
    for (const auto& [nodes, policy, paper] :
         {Claim{8, "ssd-only", 1}, Claim{8, "hybrid-naive", 2.9}, Claim{8, "hybrid-opt", 3.3},
          Claim{128, "ssd-only", 2}, Claim{128, "hybrid-naive", 5.5}, Claim{128, "hybrid-opt", 9.4},
          Claim{128, "cache-only", 11}})
      if (cell.nodes == nodes && cell.application == "heat2d")
        goals.push_back(claim("increase: synchronous / " + std::string(policy) + ", " + cell.text(), paper,
                              medians.ratio(cell, "synchronous", policy, increase)));
  return goals;
}

double worst_against(const Medians& medians, const char* reference) {
  double worst = 0;
  for (const Cell& cell : medians.cells())
    if (medians.has(cell, reference)) worst = std::max(worst, medians.ratio(cell, "adaptive", reference, increase));
  return worst;
}

}  // namespace

base::Result<Results> run_application(const Context& context) {
  Results results;
  unsigned cells = 0;
  for (const Application& application : kApplications) {
    if (context.max_cells > 0 && cells++ >= context.max_cells) break;
    if (context.progress)
      context.progress(std::string(application.name) + " on " + std::to_string(application.nodes) + " nodes");
    for (unsigned repetition = 0; repetition < context.repetitions; ++repetition)
      PERDURE_CHECK(run_application(context, application, repetition, results.rows));
  }
  const Medians medians(results.rows);
  results.goals = {
      at_most("increase: adaptive / hybrid-opt, worst cell", kNoise, worst_against(medians, "hybrid-opt"))};
  if (context.oracle)
    results.goals.push_back(at_most("increase: adaptive / oracle, worst cell", 1.1, worst_against(medians, "oracle")));
  for (Goal& goal : adaptive_goals(results.rows)) results.goals.push_back(std::move(goal));
  for (Goal& goal : claims(medians)) results.goals.push_back(std::move(goal));
  for (const char* name : {"heat2d", "nbody"}) {
    std::vector<Row> chosen;
    for (const Row& row : results.rows)
      if (row.application == name) chosen.push_back(row);
    if (chosen.empty()) continue;
    auto chart = chart_of(
        chosen, std::string(name) + ": increase in run time by 3 checkpoints", "nodes", "seconds",
        [](const Cell& cell) { return static_cast<double>(cell.nodes); }, increase);
    chart.log_y = true;
    results.plots.push_back({std::string("increase_") + name, std::move(chart)});
  }
  return results;
}

}  // namespace perdure::studies
