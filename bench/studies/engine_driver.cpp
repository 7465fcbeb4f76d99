#include "engine_driver.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "engine_run.hpp"
#include "scaled.hpp"
#include "supervised.hpp"

namespace perdure::studies {
namespace {

constexpr unsigned kMostWriters = 256;  // threads that share a few processors

base::Json to_json(const simulate::Outcome& outcome) {
  return {{"local", outcome.local_phase_s}, {"flushed", outcome.flush_completion_s}, {"chunks", outcome.chunks}};
}

simulate::Outcome outcome_from(const base::Json& json, unsigned nodes) {
  simulate::Outcome outcome;
  outcome.local_phase_s = json.value("local", 0.0);
  outcome.flush_completion_s = json.value("flushed", 0.0);
  outcome.chunks = json.value("chunks", std::vector<std::uint64_t>());
  for (std::uint64_t& chunks : outcome.chunks) chunks *= nodes;  // one engine represents the others
  return outcome;
}

class EngineDriver final : public Driver {
 public:
  explicit EngineDriver(const EngineDriverOptions& options) : options_(options) {}
  const char* name() const override { return "engine"; }
  Scale scale() const override { return options_.scale; }
  bool may_fail() const override { return true; }
  bool takes(const simulate::Scenario& scenario) const override { return scenario.writers <= kMostWriters; }
  base::Result<simulate::Outcome> run(const simulate::Scenario& scenario, const placement::Policy& policy) override {
    EngineRun run;
    run.scenario = scaled(simulate::ideal_for(scenario, policy), options_.scale.size);
    run.policy = policy.name;
    run.time_scale = options_.scale.time;
    run.patience_s = options_.patience_s / 3;
    run.verify = options_.verify;
    PERDURE_TRY(const auto json,
                run_supervised(options_.patience_s, [&](const std::string& directory) -> base::Result<base::Json> {
                  run.directory = directory;
                  PERDURE_TRY(const auto outcome, run_in_engine(run));
                  return to_json(outcome);
                }));
    return outcome_from(json, scenario.nodes);
  }

 private:
  EngineDriverOptions options_;
};

}  // namespace

std::unique_ptr<Driver> engine_driver(const EngineDriverOptions& options) {
  return std::make_unique<EngineDriver>(options);
}

}  // namespace perdure::studies
