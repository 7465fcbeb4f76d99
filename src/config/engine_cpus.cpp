#include "config/engine_cpus.hpp"

#include <algorithm>

namespace perdure::config {
namespace {

using os::Ancestor;
using os::CpuFacts;
using os::CpuSet;

base::Result<EngineCpus> listed(const std::string& option, const CpuFacts& facts) {
  PERDURE_TRY(const CpuSet wanted, CpuSet::parse(option));
  const CpuSet outside = facts.reachable.empty() ? CpuSet() : wanted - facts.reachable;
  if (outside.empty()) return EngineCpus{wanted, "option engine.cpus lists them"};
  return base::fail(PERDURE_INVALID_ARGUMENT, "engine.cpus",
                    "it lists processors that this job may not use on this node: " + outside.text() + " (it may use " +
                        facts.reachable.text() + ")",
                    "list some of " + facts.reachable.text() + ", or set engine.cpus = auto");
}

// Batch systems start ranks as another user, who may use the whole node. If root itself runs the job, the name tells.
bool belongs_to_job(const Ancestor& ancestor) { return ancestor.same_user && !ancestor.name.starts_with("slurmstepd"); }

// A launcher that a user started is part of the job. The job's limits are its own, and those of the shell or script
// that it runs in.
CpuSet limits_of(const std::vector<Ancestor>& ancestors, std::vector<Ancestor>::const_iterator launcher) {
  CpuSet limits = launcher->cpus;
  for (auto it = launcher; it != ancestors.end() && belongs_to_job(*it); ++it) {
    limits = limits & it->cpus;
    if (it->session_leader) break;
  }
  return limits;
}

EngineCpus beyond_own(const CpuFacts& facts, std::vector<Ancestor>::const_iterator launcher) {
  const std::string& name = launcher->name;
  if (!facts.launcher_was_told && belongs_to_job(*launcher))
    return {limits_of(facts.ancestors, launcher), name + ", which started the ranks, may use them"};
  if (!facts.launcher_was_told && !(facts.online - facts.reachable).empty())
    return {facts.reachable, "the control group of the job has them"};
  if (!facts.launcher_was_told && !facts.online.empty() && facts.slurm_cpus >= facts.online.count())
    return {facts.reachable, "Slurm says that the job has the whole node"};
  return {launcher->children, name + " gave them to the ranks of this node"};
}

}  // namespace

base::Result<EngineCpus> choose_engine_cpus(const std::string& option, const CpuFacts& facts) {
  if (option == "inherit") return EngineCpus{facts.own, "option engine.cpus says so"};
  if (option != "auto") return listed(option, facts);
  if (facts.own.empty() || facts.reachable.empty())
    return EngineCpus{facts.own, "the system does not say which others there are"};
  if ((facts.reachable - facts.own).empty()) return EngineCpus{facts.own, "nothing keeps this process from any"};
  const auto launcher = std::find_if(facts.ancestors.begin(), facts.ancestors.end(),
                                     [](const Ancestor& ancestor) { return ancestor.launcher; });
  if (launcher == facts.ancestors.end())
    return EngineCpus{facts.own, "no launcher of ranks is seen that could have taken others away"};
  EngineCpus chosen = beyond_own(facts, launcher);
  // Launchers may bind ranks to processors that they may not use themselves.
  if (!(facts.own - chosen.cpus).empty()) chosen.reason += ", but for " + facts.own.text() + ", where this process is";
  chosen.cpus = (chosen.cpus & facts.reachable) | facts.own;
  return chosen;
}

base::Result<EngineCpus> engine_cpus(const Config& config) {
  const std::string option = config.text("engine.cpus");
  if (option == "inherit") return EngineCpus{os::CpuSet(), "option engine.cpus says so"};
  return choose_engine_cpus(option, os::gather_cpu_facts());
}

const char* refuse_engine_cpus(std::string_view value) {
  if (value == "auto" || value == "inherit") return nullptr;
  const auto listed = CpuSet::parse(value);
  return listed && !listed->empty() ? nullptr
                                    : "must be auto, inherit, or numbers of processors and ranges, as in 0-3,8";
}

}  // namespace perdure::config
