// perdure simulate runs one checkpoint of many nodes in virtual time, with policies side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/configuration.hpp"
#include "cli/libraries.hpp"
#include "cli/progress.hpp"
#include "cli/simulate_rows.hpp"
#include "cli/verb.hpp"
#include "config/toml.hpp"
#include "inspect/table.hpp"
#include "os/file.hpp"

namespace perdure::cli {
namespace {

struct SimulateArguments {
  std::string description = "veloc-node";
  std::vector<unsigned> nodes{1}, writers{16};
  unsigned chunks = 4, repetitions = 1, flush_threads = 16, exact = 64;
  std::string chunk_bytes = "64MiB", total_bytes, flush_order = "waited-first";
  std::vector<std::string> cache, policies;
  std::uint64_t seed = 1;
  double interval_s = 600, interference = 0.05;
  bool cold = false, oracle = false, json = false, csv = false;
};

/// The options that were typed.
struct Given {
  bool chunk_bytes = false, flush_threads = false;
};

base::Result<device::Node> read_node(const std::string& name) {
  PERDURE_TRY(const std::string path, description_path(name));
  PERDURE_TRY(const auto content, os::read_file(path, config::kMaxFileBytes));
  return device::parse_description({reinterpret_cast<const char*>(content.data()), content.size()}, path);
}

base::Result<std::vector<const placement::Policy*>> chosen_policies(const SimulateArguments& arguments) {
  std::vector<const placement::Policy*> chosen;
  for (const std::string& name : arguments.policies) {
    PERDURE_TRY(const auto* policy, placement::find_policy(name));
    chosen.push_back(policy);
  }
  if (chosen.empty())
    for (const auto& policy : placement::policies()) chosen.push_back(&policy);
  return chosen;
}

base::Result<unsigned> chunks_per_writer(const SimulateArguments& arguments, std::uint64_t chunk_bytes,
                                         unsigned writers) {
  if (arguments.total_bytes.empty()) return arguments.chunks;
  PERDURE_TRY(const std::uint64_t total, base::parse_bytes(arguments.total_bytes));
  const std::uint64_t chunks = total / chunk_bytes / std::max(writers, 1U);
  if (chunks == 0 || chunks > 1'000'000)
    return base::fail(PERDURE_INVALID_ARGUMENT, "--total-bytes",
                      fmt::format("gives each of {} writers {} chunks", writers, chunks));
  return static_cast<unsigned>(chunks);
}

/// Makes the scenario, except the values that the lists vary.
base::Result<simulate::Scenario> base_scenario(const SimulateArguments& arguments) {
  simulate::Scenario scenario;
  PERDURE_TRY(scenario.node, read_node(arguments.description));
  PERDURE_TRY(scenario.chunk_bytes, base::parse_bytes(arguments.chunk_bytes));
  if (scenario.chunk_bytes == 0) return base::fail(PERDURE_INVALID_ARGUMENT, "--chunk-bytes", "is 0");
  scenario.flush_threads = arguments.flush_threads;
  scenario.cold = arguments.cold;
  scenario.max_simulated = arguments.exact;
  scenario.order =
      arguments.flush_order == "arrival" ? simulate::FlushOrder::arrival : simulate::FlushOrder::waited_first;
  return scenario;
}

base::Result<std::vector<simulate::Scenario>> scenarios(const SimulateArguments& arguments) {
  PERDURE_TRY(const auto common, base_scenario(arguments));
  std::vector<std::uint64_t> caches;
  for (const std::string& text : arguments.cache) {
    PERDURE_TRY(const std::uint64_t bytes, base::parse_bytes(text));
    caches.push_back(std::max<std::uint64_t>(bytes, 1));  // in a description 0 means: without limit
  }
  if (caches.empty()) caches.push_back(common.node.tiers.front().capacity_bytes);
  std::vector<simulate::Scenario> all;
  for (unsigned nodes : arguments.nodes)
    for (unsigned writers : arguments.writers)
      for (std::uint64_t cache : caches) {
        simulate::Scenario scenario = common;
        scenario.nodes = nodes;
        scenario.writers = writers;
        PERDURE_TRY(scenario.chunks, chunks_per_writer(arguments, scenario.chunk_bytes, writers));
        scenario.node.tiers.front().capacity_bytes = cache;
        PERDURE_CHECK(simulate::check(scenario));
        all.push_back(std::move(scenario));
      }
  return all;
}

/// Counts the bytes that all runs bring to the store. The oracle makes about a hundred runs.
std::uint64_t bytes_of_all(const SimulateArguments& arguments, const std::vector<simulate::Scenario>& cells,
                           std::size_t policies) {
  std::uint64_t bytes = 0;
  for (const simulate::Scenario& cell : cells)
    bytes += std::uint64_t{std::min(cell.nodes, cell.max_simulated)} * cell.writers * cell.chunks * cell.chunk_bytes;
  return bytes * arguments.repetitions * (policies + (arguments.oracle ? 100 : 0));
}

base::Result<std::vector<SimulatedRow>> simulate_all(const SimulateArguments& arguments, Terminal& terminal) {
  PERDURE_TRY(const auto policies, chosen_policies(arguments));
  PERDURE_TRY(const auto cells, scenarios(arguments));
  std::vector<SimulatedRow> rows;
  Progress progress(terminal, "simulating", bytes_of_all(arguments, cells, policies.size()));
  for (const auto& cell : cells)
    for (unsigned repetition = 0; repetition < arguments.repetitions; ++repetition) {
      simulate::Scenario scenario = cell;
      const auto stored = [&](std::uint64_t chunks) { progress.add(chunks * scenario.chunk_bytes); };
      scenario.seed = arguments.seed + repetition;
      for (const auto* policy : policies) {
        PERDURE_TRY(auto outcome, simulate::run(scenario, *policy, stored));
        rows.push_back({policy->name, "", scenario, repetition, std::move(outcome)});
      }
      if (!arguments.oracle) continue;
      PERDURE_TRY(auto best, simulate::oracle(scenario, stored));
      rows.push_back({"oracle", std::move(best.plan), scenario, repetition, std::move(best.outcome)});
    }
  for (SimulatedRow& row : rows)
    row.slow_down = simulate::slow_down(row.outcome, arguments.interval_s, arguments.interference);
  return rows;
}

/// Takes settings of this machine's configuration if no option says otherwise. It does not take the configuration's
/// defaults, as the nodes of the description have nothing to do with this machine.
base::Result<SimulateArguments> configured(SimulateArguments arguments, const Given& given, const Terminal& terminal) {
  PERDURE_TRY(const auto config, configuration(terminal));
  const auto set = [&](config::AnyKey key) { return config.value(key).origin != config::Origin::default_value; };
  if (!given.chunk_bytes && set("chunk_bytes")) arguments.chunk_bytes = config.value("chunk_bytes").text;
  if (!given.flush_threads && set("flush.threads"))
    arguments.flush_threads = static_cast<unsigned>(config.integer("flush.threads"));
  return arguments;
}

int show(const SimulateArguments& typed, const Given& given, Terminal& terminal) {
  const auto effective = configured(typed, given, terminal);
  if (!effective) return report(terminal, effective.error());
  const SimulateArguments& arguments = *effective;
  const auto rows = simulate_all(arguments, terminal);
  if (!rows) return report(terminal, rows.error());
  if (arguments.json) {
    base::Json list = base::Json::array();
    for (const SimulatedRow& row : *rows) list.push_back(row_json(row));
    print_json(terminal, {{"description", arguments.description}, {"rows", list}});
  } else {
    print(terminal.out, arguments.csv ? rows_csv(*rows) : rows_table(*rows));
  }
  return kGood;
}

void enrol_scenario(CLI::App& app, SimulateArguments& arguments) {
  app.add_option("DESCRIPTION", arguments.description, "a file, or the name of one that is installed")
      ->capture_default_str();
  app.add_option("--nodes", arguments.nodes, "nodes that share the store; several with commas")->delimiter(',');
  app.add_option("--writers", arguments.writers, "writers per node; several with commas")->delimiter(',');
  app.add_option("--chunks", arguments.chunks, "chunks per writer")->capture_default_str();
  app.add_option("--chunk-bytes", arguments.chunk_bytes, "size of a chunk")->capture_default_str();
  app.add_option("--total-bytes", arguments.total_bytes, "per node, divided among the writers; instead of --chunks");
  app.add_option("--cache", arguments.cache,
                 "size of the first tier, instead of the description's; several with commas")
      ->delimiter(',');
  app.add_option("--policy", arguments.policies, "placement policies, with commas; by default all")->delimiter(',');
  app.add_option("--flush-threads", arguments.flush_threads, "flushes at once, per node")->capture_default_str();
  app.add_option("--flush-order", arguments.flush_order, "what is flushed first")
      ->check(CLI::IsMember({"waited-first", "arrival"}))
      ->capture_default_str();
  app.add_flag("--cold", arguments.cold, "nothing is known of flushes at the beginning: the first checkpoint of a run");
}

}  // namespace

Action enrol_simulate(CLI::App& app) {
  auto arguments = std::make_shared<SimulateArguments>();
  enrol_scenario(app, *arguments);
  app.add_option("--seed", arguments->seed, "of all chance; a repetition adds its number")
      ->check(whole_number)
      ->capture_default_str();
  app.add_option("--repetitions", arguments->repetitions, "runs of each cell; the table shows medians")
      ->check(within(1, 10'000))
      ->capture_default_str();
  app.add_option("--exact", arguments->exact, "simulate so many nodes one by one; more are represented by so many")
      ->check(within(1, 100'000))
      ->capture_default_str();
  app.add_flag("--oracle", arguments->oracle, "also the best plan in hindsight (about a hundred runs)");
  app.add_option("--interval", arguments->interval_s, "seconds between checkpoints, for the slow-down")
      ->check(within(1e-3, 1e9))
      ->capture_default_str();
  app.add_option("--interference", arguments->interference, "how much flushing slows the application down")
      ->check(within(0.0, 10.0))
      ->capture_default_str();
  app.add_flag("--csv", arguments->csv, "comma-separated values, one line per run");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments, &app](Terminal& terminal) {
    return show(*arguments, {app.count("--chunk-bytes") > 0, app.count("--flush-threads") > 0}, terminal);
  };
}

}  // namespace perdure::cli
