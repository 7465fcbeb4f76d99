// Checks which processors the engine's threads would run on, if it was started from here.
#include <fmt/format.h>

#include "config/engine_cpus.hpp"
#include "inspect/check.hpp"

namespace perdure::inspect {
namespace {

std::string named(const os::CpuSet& cpus) {
  return fmt::format("processor{} {}", cpus.count() == 1 ? "" : "s", cpus.text());
}

}  // namespace

Check judge_processors(const std::string& option, const os::CpuFacts& facts) {
  Check check{"processors", Verdict::ok, "", ""};
  const auto chosen = config::choose_engine_cpus(option, facts);
  if (!chosen)
    return {check.name, Verdict::problem, chosen.error().object + ": " + chosen.error().cause, chosen.error().remedy};
  if (chosen->cpus.empty()) {
    check.finding = "the engine's threads run where the rank does: " + chosen->reason;
    return check;
  }
  check.finding = "the engine's threads would run on " + named(chosen->cpus) + ": " + chosen->reason;
  if (chosen->cpus != facts.own) check.finding += "; this process is bound to " + facts.own.text();
  if (chosen->cpus.count() > 1) return check;
  check.verdict = Verdict::warning;
  check.finding += "; the engine would compete with the rank for it";
  check.remedy = facts.reachable.count() == 1 ? "ask for one processor more than there are ranks on the node"
                                              : "list processors in engine.cpus, some of " + facts.reachable.text() +
                                                    ", or start ranks with a launcher that may use more of them";
  return check;
}

std::vector<Check> check_processors(const config::Config& config) {
  return {judge_processors(config.text("engine.cpus"), os::gather_cpu_facts())};
}

}  // namespace perdure::inspect
