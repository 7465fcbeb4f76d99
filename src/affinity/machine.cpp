#include "affinity/machine.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "os/affinity.hpp"

namespace perdure::affinity {
namespace {

constexpr std::size_t kMostNodesOfAMachine = 256;  // planning looks at each pair of them

plan::Cpus cpu_numbers(const os::CpuSet& set) {
  plan::Cpus numbers;
  for (unsigned number = 0; number < set.words().size() * 64; ++number)
    if (set.contains(number)) numbers.push_back(number);
  return numbers;
}

/// Returns the hardware threads of each core, by the first one; if the system does not say, each core has one.
std::vector<plan::Cpus> read_cores(const std::string& folder, const os::CpuSet& cpus) {
  std::vector<plan::Cpus> cores;
  os::CpuSet left = cpus;
  for (const unsigned cpu : cpu_numbers(cpus)) {
    if (!left.contains(cpu)) continue;
    const auto own = os::CpuSet{cpu};
    const auto file = folder + "/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list";
    const auto siblings = (os::read_cpus(file) | own) & left;
    cores.push_back(cpu_numbers(siblings));
    left = left - siblings;
  }
  return cores;
}

std::uint64_t memory_of(const std::string& node) {
  std::ifstream file(node + "/meminfo");
  std::string word, number, key;
  std::uint64_t kib = 0;
  for (std::string line; std::getline(file, line);)  // "Node 0 MemTotal:  1000 kB"
    if (std::istringstream words(line); words >> word >> number >> key && key == "MemTotal:")
      return words >> kib ? kib * 1024 : 0;
  return 0;
}

std::vector<unsigned> read_distances(const std::string& node) {
  std::ifstream file(node + "/distance");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  std::vector<unsigned> distances;
  for (unsigned distance = 0; words >> distance;) distances.push_back(distance);
  return words.eof() ? distances : std::vector<unsigned>();
}

/// Returns the nodes of memory that this process may use.
os::CpuSet allowed_nodes() {
  constexpr std::string_view kKey = "Mems_allowed_list:";
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kKey))
      return os::CpuSet::parse(std::string_view(line).substr(line.find_first_not_of("\t ", kKey.size())))
          .value_or(os::CpuSet{0});
  return os::CpuSet{0};
}

template <class T>
void keep_only(std::vector<T>& list, const std::vector<bool>& kept) {
  std::size_t at = 0;
  std::erase_if(list, [&](const T&) { return at >= kept.size() || !kept[at++]; });
}

}  // namespace

std::string MachineImage::wrong() const {
  if (numbers.size() != machine.nodes.size() || numbers.size() > kMostNodesOfAMachine)
    return "field 'numbers' is not one a node";
  for (std::size_t n = 1; n < numbers.size(); ++n)
    if (numbers[n] <= numbers[n - 1]) return "field 'numbers' does not ascend";
  std::set<unsigned> all;
  for (const auto& node : machine.nodes)
    for (const auto& core : node.cores)
      for (const unsigned cpu : core)
        if (cpu >= os::CpuSet::kMost || !all.insert(cpu).second) return "field 'machine' has a processor twice";
  if (known() && all.empty()) return "field 'machine' has no processor";
  if (!machine.distances.empty() && machine.distances.size() != numbers.size())
    return "field 'machine' has distances of other nodes";
  for (const auto& row : machine.distances)
    if (row.size() != numbers.size()) return "field 'machine' has distances of other nodes";
  return "";
}

MachineImage read_machine(const std::string& folder) {
  MachineImage image;
  const os::CpuSet online = os::read_cpus(folder + "/cpu/online");
  for (const unsigned number : cpu_numbers(os::read_cpus(folder + "/node/online"))) {
    const std::string node = folder + "/node/node" + std::to_string(number);
    const os::CpuSet cpus = os::read_cpus(node + "/cpulist") & online;
    image.numbers.push_back(number);
    image.machine.nodes.push_back({read_cores(folder, cpus), memory_of(node)});
    image.machine.distances.push_back(read_distances(node));
  }
  for (const auto& row : image.machine.distances)
    if (row.size() != image.numbers.size()) {
      image.machine.distances.clear();
      break;
    }
  if (!image.wrong().empty()) image = {};
  if (!image.known() && !online.empty()) image = {{0}, {{{read_cores(folder, online), 0}}, {}}};
  return image;
}

MachineImage limited(const MachineImage& machine, const os::CpuSet& cpus, const os::CpuSet& nodes) {
  MachineImage less = machine;
  std::vector<bool> kept;
  for (std::size_t n = 0; n < less.numbers.size(); ++n) {
    auto& node = less.machine.nodes[n];
    for (auto& core : node.cores) std::erase_if(core, [&](unsigned cpu) { return !cpus.contains(cpu); });
    std::erase_if(node.cores, [](const plan::Cpus& core) { return core.empty(); });
    kept.push_back(nodes.contains(less.numbers[n]) || !node.cores.empty());
  }
  keep_only(less.numbers, kept);
  keep_only(less.machine.nodes, kept);
  keep_only(less.machine.distances, kept);
  for (auto& row : less.machine.distances) keep_only(row, kept);
  return less.wrong().empty() ? less : MachineImage{};
}

const MachineImage& machine_here() {
  static const MachineImage here = machine_here_with({}, {});
  return here;
}

MachineImage machine_here_with(const os::CpuSet& cpus, const os::CpuSet& nodes) {
  static const MachineImage all = read_machine("/sys/devices/system");
  static const os::CpuSet reachable = os::reachable_cpus();
  static const os::CpuSet allowed = allowed_nodes();
  return limited(all, reachable | cpus, allowed | nodes);
}

std::vector<std::uint32_t> cpus_of(const MachineImage& machine) {
  std::vector<std::uint32_t> all;
  for (const auto& node : machine.machine.nodes)
    for (const auto& core : node.cores) all.insert(all.end(), core.begin(), core.end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace perdure::affinity
