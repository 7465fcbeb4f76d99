#include "client/region_places.hpp"

#include <algorithm>

#include "affinity/region_nodes.hpp"
#include "os/affinity.hpp"
#include "os/memory_nodes.hpp"

namespace perdure::client {
namespace {

constexpr std::size_t kMostThreads = 4096;

std::vector<std::uint32_t> numbers_of(const os::CpuSet& cpus) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t cpu = 0; cpu < cpus.words().size() * 64; ++cpu)
    if (cpus.contains(cpu)) numbers.push_back(cpu);
  return numbers;
}

os::CpuSet set_of(const plan::Cpus& cpus) {
  os::CpuSet set;
  for (const unsigned cpu : cpus) set = set | os::CpuSet{cpu};
  return set;
}

/// The entry's bytes are memory without gaps there.
bool is_dense(const capture::Region* region, const segment::RegionEntry& entry) {
  return region != nullptr && entry.bytes() >= affinity::kLeastNotedBytes && region->bytes() == entry.bytes() &&
         (!region->part || region->part->dense_bytes() == entry.bytes());
}

std::uint64_t first_page_bytes(const std::byte* address) {
  return os::page_size() - reinterpret_cast<std::uintptr_t>(address) % os::page_size();
}

affinity::RegionNodes nodes_of_region(const capture::Region& region) {
  const std::uint64_t first = first_page_bytes(region.address);
  const auto ask = [&](std::span<const std::uint64_t> pages, std::span<int> nodes) {
    std::vector<void*> addresses;
    for (const auto page : pages)
      addresses.push_back(page == 0 ? region.address : region.address + first + (page - 1) * os::page_size());
    os::find_nodes(addresses, nodes);
  };
  return affinity::find_region_nodes(region.bytes(), first, os::page_size(), ask);
}

os::CpuSet cpus_on(const affinity::MachineImage& machine, std::uint32_t node) {
  const auto less = affinity::limited(machine, os::CpuSet::all(), {});  // the nodes with processors
  const auto at = std::find(less.numbers.begin(), less.numbers.end(), node);
  if (at == less.numbers.end()) return {};
  plan::Cpus cpus;
  for (const auto& core : less.machine.nodes[static_cast<std::size_t>(at - less.numbers.begin())].cores)
    cpus.insert(cpus.end(), core.begin(), core.end());
  return set_of(cpus);
}

using Spans = std::map<std::uint32_t, std::vector<base::MemorySpan>>;  // spans of memory, by node

// Gives the memory that the entries fill, by its node at the checkpoint.
Spans spans_of(const capture::RegionTable& table, const std::vector<segment::RegionEntry>& stored,
               const std::vector<std::int32_t>& to) {
  Spans spans;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto& entry = stored[i];
    if (entry.attributes.empty() || to[i] == capture::kNoRegion) continue;
    const auto* region = table.find(to[i]);
    if (!is_dense(region, entry)) continue;
    const auto first = first_page_bytes(region->address);
    for (const auto& part : affinity::pages_on_nodes(affinity::nodes_of(entry), entry.bytes(), first, os::page_size()))
      spans[part.node].push_back({region->address + part.begin, part.bytes});
  }
  return spans;
}

}  // namespace

RegionPlaces::RegionPlaces(const config::Config& config)
    : mode_(config.text("affinity")), moves_(config.boolean("restore.move_pages")) {}

base::Status RegionPlaces::name_thread(std::int32_t id) {
  const std::string object = "thread " + std::to_string(id);
  if (id < 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "its number is negative", "use numbers from 0 upwards");
  if (threads_.size() == kMostThreads && !threads_.contains(id))
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      "this rank has " + std::to_string(kMostThreads) + " threads already, the most there can be");
  threads_[id] = os::thread_number();
  return {};
}

void RegionPlaces::note(const capture::RegionTable& table, std::vector<segment::RegionEntry>& entries) {
  affinity::RankPlaces places;
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const auto cpus = os::cpus_of_thread(thread->second);
    if (!cpus.empty() && of_threads()) places.threads.push_back({thread->first, numbers_of(cpus)});
    thread = cpus.empty() ? threads_.erase(thread) : std::next(thread);  // it has ended
  }
  bool known = !places.threads.empty();
  if (of_pages() && os::has_several_nodes())
    for (auto& entry : entries) {
      const auto* region = table.find(entry.id);
      if (!is_dense(region, entry)) continue;
      const auto nodes = nodes_of_region(*region);
      affinity::note(nodes, entry.attributes);
      known = known || nodes.known();
    }
  if (!known) return;
  places.machine = affinity::machine_here();
  places.cpus = numbers_of(os::own_cpus());
  (void)affinity::note(places, entries);
}

void RegionPlaces::set_masks(const affinity::PlacesHere& places) {
  for (const auto& [id, thread] : threads_) {
    const auto found = places.threads.find(id);
    if (mode_ == "reset")
      os::set_cpus_of_thread(thread, os::reachable_cpus());
    else if (of_threads() && found != places.threads.end())
      os::set_cpus_of_thread(thread, set_of(found->second));
  }
}

// Memory of a process that was started with a memory policy, or has chosen one, goes where that says.
void RegionPlaces::bring_back(const capture::RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                              const std::vector<std::int32_t>& to) {
  const bool pages = of_pages() && os::has_several_nodes() && !os::has_memory_policy();
  if (threads_.empty() && !pages) return;
  const auto then = affinity::places_of(stored);
  if (!then) return;
  const Spans spans = pages ? spans_of(table, stored, to) : Spans();
  std::map<std::uint32_t, std::uint64_t> bytes;  // bytes by the node at the checkpoint
  for (const auto& [node, parts] : spans)
    for (const auto& part : parts) bytes[node] += part.length;
  const auto& machine = affinity::machine_here();
  const auto places = affinity::places_here(*then, bytes, machine, os::own_cpus());
  set_masks(places);
  Spans here;
  for (const auto& [node, parts] : spans)
    if (const auto found = places.nodes.find(node); found != places.nodes.end())
      here[found->second].insert(here[found->second].end(), parts.begin(), parts.end());
  std::vector<os::NodeMemory> memory;
  for (const auto& [node, parts] : here) memory.push_back({node, cpus_on(machine, node), parts});
  (void)os::touch_on_nodes(memory);
  if (moves_)
    for (const auto& [node, parts] : here)
      for (const auto& part : parts) os::move_to_node(node, part);
}

base::Result<capture::Description> PlacedSource::describe() {
  PERDURE_TRY(auto described, MemorySource::describe());
  places_.note(regions_, described.entries);
  return described;
}

}  // namespace perdure::client
