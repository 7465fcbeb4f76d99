#include "cli/node_arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/arguments.hpp"
#include "os/file.hpp"

namespace perdure::cli {
namespace {

constexpr std::uint64_t kLongestHostFile = 16U << 20U;
constexpr std::uint64_t kMostSimulated = 1000;  // their numbers are as long as the text of an option may be

// Takes names of nodes without commas or blanks around them; an empty argument names no node.
std::string node_name(const std::string& text) {
  const bool good = !text.empty() && text.find_first_of(", \t\n") == std::string::npos;
  return good ? std::string() : "'" + text + "' is not the name of a node";
}

std::string from_one_on(const std::string& text) {
  auto reason = whole_number(text);
  return reason.empty() && text.find_first_not_of('0') == std::string::npos ? "at least one node is needed" : reason;
}

base::Result<std::vector<Host>> hosts_of(const NodeArguments& arguments) {
  if (arguments.host_file.empty()) return hosts_of_list(arguments.hosts);
  PERDURE_TRY(const auto bytes, os::read_file(arguments.host_file, kLongestHostFile));
  return hosts_of_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, arguments.host_file);
}

base::Result<std::unique_ptr<NodeKind>> simulated_kind(const NodeArguments& arguments, const config::Config& config) {
  const std::int64_t per_node = config.integer("node.ranks_per_node");
  if (per_node <= 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, "--nodes", "it is not said which nodes",
                      "name them with --hosts or --hostfile, or simulate some with --set node.ranks_per_node=...");
  const auto& numbers = config.value("node.numbers");
  if (numbers.origin != config::Origin::default_value)
    return base::fail(PERDURE_INVALID_ARGUMENT, "option node.numbers", "it is set, but --nodes is to set it",
                      "leave out one of them");
  if (std::max(arguments.nodes, arguments.spares) > kMostSimulated ||
      arguments.nodes + arguments.spares > kMostSimulated)
    return base::fail(PERDURE_INVALID_ARGUMENT, "--nodes", "at most 1000 nodes, spares included, can be simulated");
  PERDURE_TRY(const std::string failed, arguments.failed_directory.empty()
                                            ? base::Result<std::string>(std::string())
                                            : os::absolute_path(arguments.failed_directory));
  return make_simulated_nodes({arguments.nodes, arguments.spares, static_cast<std::uint64_t>(per_node), failed});
}

base::Result<std::unique_ptr<NodeKind>> host_kind(const NodeArguments& arguments, const config::Config& config,
                                                  const std::vector<std::string>& command) {
  if (config.integer("node.ranks_per_node") > 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, "option node.ranks_per_node",
                      "nodes cannot be simulated and real hosts at once", "leave it out, or the hosts");
  PERDURE_TRY(auto hosts, hosts_of(arguments));
  return make_host_nodes(std::move(hosts), arguments.nodes, command, !arguments.policy.probe.empty());
}

}  // namespace

void add_node_options(CLI::App& app, NodeArguments& arguments) {
  NodePolicy& policy = arguments.policy;
  auto* nodes =
      app.add_option("--nodes", arguments.nodes, "use so many nodes, and after a failure replace those that failed")
          ->check(from_one_on);
  auto* hosts = app.add_option("--hosts", arguments.hosts, "hosts HOST[:SLOTS],... ; those beyond --nodes are spares");
  auto* file =
      app.add_option("--hostfile", arguments.host_file, "the same from a file, a host a line")->excludes(hosts);
  auto* spares = app.add_option("--spares", arguments.spares, "so many spare nodes; for simulated ones")
                     ->check(whole_number)
                     ->excludes(hosts)
                     ->excludes(file);
  auto* failed = app.add_option("--failed-nodes", arguments.failed_directory,
                                "directory; a simulated node has failed when a file there has its number as name")
                     ->excludes(hosts)
                     ->excludes(file);
  auto* exclude = app.add_option("--exclude", policy.exclude, "nodes that are not to be used, separated by commas")
                      ->delimiter(',')
                      ->allow_extra_args(false)
                      ->check(node_name);
  auto* shrink =
      app.add_flag("--shrink-nodes", policy.shrink, "without a spare, go on with fewer nodes and more ranks on each");
  auto* probe = app.add_option("--probe", policy.probe,
                               "shell command that gets a node as argument and ends with 0 when it works");
  auto* timeout =
      app.add_option("--probe-timeout", policy.probe_timeout_s, "seconds after which a node counts as failed")
          ->capture_default_str()
          ->check(seconds);
  for (auto* option : {hosts, file, spares, failed, exclude, shrink, probe, timeout}) option->needs(nodes);
}

base::Result<std::unique_ptr<NodeKeeper>> make_node_keeper(const NodeArguments& arguments, const config::Config& config,
                                                           const std::vector<std::string>& command,
                                                           NodeKeeper::Announce announce) {
  if (arguments.nodes == 0) return std::unique_ptr<NodeKeeper>();
  const bool real = !arguments.hosts.empty() || !arguments.host_file.empty();
  PERDURE_TRY(auto kind, real ? host_kind(arguments, config, command) : simulated_kind(arguments, config));
  NodePolicy policy = arguments.policy;
  policy.positions = arguments.nodes;
  return NodeKeeper::make(std::move(kind), std::move(policy), std::move(announce));
}

}  // namespace perdure::cli
