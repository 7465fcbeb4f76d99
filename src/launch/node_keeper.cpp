#include "launch/node_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace perdure::launch {
namespace {

constexpr std::size_t kProbesAtOnce = 32;

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

base::Error too_few(const NodePolicy& policy, const plan::NodeAssignment& first) {
  const auto left = first.positions.size();
  return {PERDURE_INVALID_ARGUMENT, "--nodes",
          fmt::format("{} nodes are wanted, but there are {}{}", policy.positions, left,
                      first.excluded.empty() ? "" : fmt::format(" without the excluded {}", listed(first.excluded))),
          left == 0 ? "name more nodes" : "name more nodes, or go on with fewer (--shrink-nodes)", false};
}

base::Error none_left(const std::vector<plan::NodeReplacement>& replaced, bool anybody) {
  std::vector<std::string> failed;
  for (const auto& one : replaced) failed.push_back(one.failed);
  return {PERDURE_UNAVAILABLE, "nodes", fmt::format("{} failed, and there are not enough spares", listed(failed)),
          anybody ? "start it again with --exclude and more spares, or go on with fewer nodes (--shrink-nodes)"
                  : "start it again when nodes work",
          false};
}

}  // namespace

base::Result<std::unique_ptr<NodeKeeper>> NodeKeeper::make(std::unique_ptr<NodeKind> kind, NodePolicy policy,
                                                           Announce announce) {
  const auto nodes = kind->nodes();
  for (const auto& node : policy.exclude)
    if (!is_in(nodes, node)) announce(fmt::format("--exclude: there is no node {}", node));
  auto first = plan::first_assignment(nodes, policy.positions, policy.exclude, policy.shrink);
  if (!first.possible) return base::fail(too_few(policy, first.next));
  std::unique_ptr<NodeKeeper> keeper(new NodeKeeper(std::move(kind), std::move(policy), std::move(announce)));
  keeper->now_ = std::move(first.next);
  keeper->announce_nodes();
  return keeper;
}

void NodeKeeper::announce_nodes() const {
  std::string line = "nodes: " + listed(now_.positions);
  if (!now_.spares.empty()) line += "; spare: " + listed(now_.spares);
  if (!now_.excluded.empty()) line += "; excluded: " + listed(now_.excluded);
  announce_(line);
}

std::vector<std::string> NodeKeeper::command_for(const std::string& node) const {
  if (policy_.probe.empty()) return kind_->probe(node);
  return {"/bin/sh", "-c", policy_.probe + " \"$@\"", "perdure-probe", node};
}

Probed NodeKeeper::probe(const std::vector<std::string>& nodes, Supervisor& supervisor) const {
  Probed all;
  for (std::size_t begin = 0; begin < nodes.size() && !all.stop; begin += kProbesAtOnce) {
    std::vector<std::vector<std::string>> commands;
    for (std::size_t i = begin; i < nodes.size() && i < begin + kProbesAtOnce; ++i)
      commands.push_back(command_for(nodes[i]));
    const Probed some = supervisor.probe(commands, policy_.probe_timeout_s);
    all.good.insert(all.good.end(), some.good.begin(), some.good.end());
    all.stop = some.stop;
  }
  return all;
}

// Probes spares that step in, too, before they are used.
base::Result<std::optional<int>> NodeKeeper::look_after(Supervisor& supervisor) {
  std::vector<std::string> to_ask = now_.positions;
  bool changed = false;
  while (!to_ask.empty()) {
    const Probed probed = probe(to_ask, supervisor);
    if (probed.stop) return probed.stop;
    std::vector<std::string> failed;
    for (std::size_t i = 0; i < to_ask.size(); ++i)
      if (!probed.good[i]) failed.push_back(to_ask[i]);
    const auto before = now_.positions;
    if (!failed.empty()) PERDURE_CHECK(replace(failed));
    changed |= !failed.empty();
    to_ask.clear();
    for (const auto& node : now_.positions)
      if (!is_in(before, node)) to_ask.push_back(node);
  }
  if (changed)
    announce_nodes();
  else
    announce_(fmt::format("nodes: none of {} failed", listed(now_.positions)));
  return std::optional<int>();
}

base::Status NodeKeeper::replace(const std::vector<std::string>& failed) {
  auto decision = plan::replace_failed(now_, failed, policy_.shrink);
  for (const auto& [position, node, by] : decision.replaced) {
    if (!by.empty())
      announce_(fmt::format("node {} failed: excluded, spare {} takes its position {}", node, by, position));
    else if (decision.possible)
      announce_(fmt::format("node {} failed: excluded, no spare is left, its ranks go to the other nodes", node));
    else
      announce_(fmt::format("node {} failed: excluded, no spare is left", node));
  }
  now_ = std::move(decision.next);
  if (!decision.possible) return base::fail(none_left(decision.replaced, !now_.positions.empty()));
  return {};
}

}  // namespace perdure::launch
