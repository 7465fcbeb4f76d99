#include "process/placement.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "process/memory_policy.hpp"

namespace perdure::process {
namespace {

constexpr std::array<std::pair<std::string_view, AffinityMode>, 5> kAffinityModes = {{{"keep", AffinityMode::keep},
                                                                                      {"cores", AffinityMode::cores},
                                                                                      {"pages", AffinityMode::pages},
                                                                                      {"none", AffinityMode::none},
                                                                                      {"reset", AffinityMode::reset}}};

plan::MachineUsage usage_of(const ProcessImage& image) {
  plan::MachineUsage use;
  for (const auto& thread : image.threads) use.masks.emplace_back(thread.cpus.begin(), thread.cpus.end());
  use.bytes.resize(image.machine.numbers.size());
  for (const auto& node : image.all_pages()) {
    const auto& numbers = image.machine.numbers;
    const auto found = std::lower_bound(numbers.begin(), numbers.end(), node.node);
    if (found != numbers.end() && *found == node.node)
      use.bytes[static_cast<std::size_t>(found - numbers.begin())] += node.pages() * kPageBytes;
  }
  return use;
}

/// Keeps everything where it was.
Placement as_it_was(const ProcessImage& image) {
  Placement same;
  for (const auto& thread : image.threads) same.cpus.push_back(thread.cpus);
  for (const auto& node : image.all_pages()) same.nodes[node.node] = node.node;
  for (const auto number : image.machine.numbers) same.nodes[number] = number;
  return same;
}

/// Replaces the nodes, and counts a policy that has none left.
MemoryPolicy policy_here(const MemoryPolicy& policy, const Placement& placement, std::size_t& lost) {
  const auto here = [&](std::uint32_t node) -> std::optional<std::uint32_t> {
    const auto found = placement.nodes.find(node);
    return found == placement.nodes.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto other = on_nodes(policy, here)) return *other;
  ++lost;
  return {};
}

}  // namespace

std::optional<AffinityMode> affinity_mode(std::string_view text) {
  for (const auto& [name, mode] : kAffinityModes)
    if (name == text) return mode;
  return std::nullopt;
}

Placement place(const ProcessImage& image, const MachineImage& here, AffinityChoices choices) {
  Placement placement = as_it_was(image);
  placement.of_memory = choices.places_memory();
  if ((choices.places_threads() || placement.of_memory) && image.machine.known() && here.known() &&
      image.machine != here) {
    const auto plan = plan::plan_affinity(image.machine.machine, usage_of(image), here.machine);
    for (std::size_t t = 0; t < plan.masks.size(); ++t)
      placement.cpus[t].assign(plan.masks[t].begin(), plan.masks[t].end());
    placement.nodes.clear();
    for (std::size_t n = 0; n < plan.nodes.size(); ++n)
      placement.nodes[image.machine.numbers[n]] = here.numbers[plan.nodes[n]];
    for (const auto& text : plan.together) placement.notes.push_back("this machine is another one: " + text);
  }
  if (choices.places_threads()) return placement;
  const auto all = choices.mode == AffinityMode::reset ? cpus_of(here) : std::vector<std::uint32_t>();
  for (auto& cpus : placement.cpus) cpus = all;
  return placement;
}

void apply(Placement& placement, ProcessImage& image) {
  std::size_t lost = 0;
  for (std::size_t t = 0; t < image.threads.size(); ++t) {
    ThreadImage& thread = image.threads[t];
    thread.cpus = placement.cpus[t];
    MemoryPolicy policy{thread.memory_policy, thread.memory_nodes};
    policy = placement.of_memory ? policy_here(policy, placement, lost) : MemoryPolicy{};
    thread.memory_policy = policy.mode;
    thread.memory_nodes = policy.nodes;
  }
  for (MapImage& map : image.maps) {
    if (map.policy.empty()) continue;
    const auto policy = parse_policy(map.policy);
    lost += policy ? 0 : 1;
    const auto here = policy && placement.of_memory ? policy_here(*policy, placement, lost) : MemoryPolicy{};
    map.policy = here.mode == 0 ? "" : policy_text(here);
  }
  if (lost > 0)
    placement.notes.push_back(std::to_string(lost) + " policies of memory name nodes that are not here: left out");
}

void put_orphans_last(ProcessImage& image) {
  std::set<std::uint32_t> cpus;
  for (const auto& thread : image.threads) cpus.insert(thread.cpus.begin(), thread.cpus.end());
  const auto runs_a_thread = [&](const NodePages& pages) {
    const auto& numbers = image.machine.numbers;
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), pages.node);
    if (at == numbers.end() || *at != pages.node) return false;
    const auto& cores = image.machine.machine.nodes[static_cast<std::size_t>(at - numbers.begin())].cores;
    return std::any_of(cores.begin(), cores.end(), [&](const plan::Cpus& core) {
      return std::any_of(core.begin(), core.end(), [&](unsigned cpu) { return cpus.contains(cpu); });
    });
  };
  std::stable_partition(image.pages.begin(), image.pages.end(), runs_a_thread);
}

}  // namespace perdure::process
