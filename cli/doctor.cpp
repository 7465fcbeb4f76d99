// perdure doctor checks whether this machine is fit for Perdure, and says what to do if not. It writes into directories
// of its own only, and removes them.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/libraries.hpp"
#ifdef PERDURE_PROCESSES
#include "cli/doctor_process.hpp"
#endif
#include "cli/verb.hpp"
#include "inspect/check_cluster.hpp"
#include "inspect/table.hpp"

namespace perdure::cli {
namespace {

struct DoctorArguments {
  bool json = false, quick = false, process = false;
};

std::vector<Check> all_checks(const config::Config& config, const DoctorOptions& options) {
  std::vector<Check> all;
  auto add = [&](std::vector<Check> checks) { std::move(checks.begin(), checks.end(), std::back_inserter(all)); };
  add(check_environment());
  add(check_memory(config));
  add(check_memory_limit(config));
  add(check_memory_tier(config, options));
  add(check_disk_tiers(config, options));
  add(check_models(config));
  add(check_store(config, options));
  add(check_sharing(config));
  add(check_limits(config));
  add(check_processors(config));
  add(check_copy_on_write(config));
  add(check_sockets(config));
  add(check_network(config));
  add(check_provider(config));
  add(check_programs(config));
  add(check_node_directories(config));
  return all;
}

/// Makes the requested checks.
base::Result<std::vector<Check>> asked_checks(const DoctorArguments& arguments, const Terminal& terminal) {
#ifdef PERDURE_PROCESSES
  if (arguments.process) return judge_facilities(process::try_facilities(), process::trace_scope());
#endif
  PERDURE_TRY(const auto config, configuration(terminal));
  DoctorOptions options;
  if (arguments.quick) options.sample_bytes = 0;
  return all_checks(config, options);
}

int examine(const DoctorArguments& arguments, Terminal& terminal) {
  const auto asked = asked_checks(arguments, terminal);
  if (!asked) return report(terminal, asked.error());
  const auto& checks = *asked;
  const auto problems =
      std::count_if(checks.begin(), checks.end(), [](const Check& c) { return c.verdict == Verdict::problem; });
  const auto warnings =
      std::count_if(checks.begin(), checks.end(), [](const Check& c) { return c.verdict == Verdict::warning; });
  if (arguments.json) {
    base::Json list = base::Json::array();
    for (const Check& check : checks)
      list.push_back({{"check", check.name},
                      {"verdict", verdict_name(check.verdict)},
                      {"finding", check.finding},
                      {"remedy", check.remedy}});
    print_json(terminal, {{"checks", list}, {"problems", problems}, {"warnings", warnings}});
    return problems > 0 ? kBad : kGood;
  }
  for (const Check& check : checks) {
    std::string verdict = verdict_name(check.verdict);
    verdict.resize(9, ' ');
    print(terminal.out, verdict + check.name + ": " + check.finding + "\n");
    if (!check.remedy.empty()) print(terminal.out, "           remedy: " + check.remedy + "\n");
  }
  print(terminal.out, std::to_string(problems) + " problems, " + std::to_string(warnings) + " warnings\n");
  return problems > 0 ? kBad : kGood;
}

}  // namespace

Action enrol_doctor(CLI::App& app) {
  auto arguments = std::make_shared<DoctorArguments>();
  app.add_flag("--quick", arguments->quick, "measure no speeds");
#ifdef PERDURE_PROCESSES
  app.add_flag("--process", arguments->process,
               "which of the kernel's facilities that capture and resume need are here");
#endif
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return examine(*arguments, terminal); };
}

}  // namespace perdure::cli
