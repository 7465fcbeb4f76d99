#include "affinity/rank_places.hpp"

#include <algorithm>
#include <set>

#include "base/field_codec.hpp"

namespace perdure::affinity {
namespace {

constexpr std::size_t kMostParts = 16;

std::string part_name(std::size_t part) { return "places." + std::to_string(part); }

os::CpuSet set_of(const std::vector<std::uint32_t>& cpus) {
  std::vector<unsigned long> words;
  for (const auto cpu : cpus) {
    words.resize(std::max<std::size_t>(words.size(), cpu / 64 + 1));
    words[cpu / 64] |= 1UL << (cpu % 64);
  }
  return os::CpuSet::from_words(words);
}

/// Returns the numbers of the nodes that have any of these.
std::set<std::uint32_t> nodes_with(const MachineImage& machine, const os::CpuSet& cpus) {
  const auto less = limited(machine, cpus, {});
  return {less.numbers.begin(), less.numbers.end()};
}

/// Plans for all nodes of `then`.
PlacesHere planned(const RankPlaces& places, const MachineImage& then,
                   const std::map<std::uint32_t, std::uint64_t>& bytes, const MachineImage& here) {
  plan::MachineUsage use;
  for (const auto& thread : places.threads) use.masks.emplace_back(thread.cpus.begin(), thread.cpus.end());
  for (const auto number : then.numbers) {
    const auto found = bytes.find(number);
    use.bytes.push_back(found == bytes.end() ? 0 : found->second);
  }
  const auto plan = plan::plan_affinity(then.machine, use, here.machine);
  PlacesHere found;
  const bool same = then == here;
  for (std::size_t n = 0; n < then.numbers.size(); ++n)
    found.nodes[then.numbers[n]] = same ? then.numbers[n] : here.numbers[plan.nodes[n]];
  for (std::size_t t = 0; t < places.threads.size(); ++t) found.threads[places.threads[t].id] = plan.masks[t];
  return found;
}

}  // namespace

std::string ThreadPlace::wrong() const {
  const bool good = std::is_sorted(cpus.begin(), cpus.end()) && (cpus.empty() || cpus.back() < os::CpuSet::kMost);
  return good ? "" : "field 'cpus' has what is no processor";
}

bool note(const RankPlaces& places, std::vector<segment::RegionEntry>& entries) {
  const auto bytes = base::encode_fields(places);
  const std::size_t parts = (bytes.size() + segment::kMaxAttributeBytes - 1) / segment::kMaxAttributeBytes;
  if (parts > kMostParts) return false;
  for (auto& entry : entries) {
    if (entry.attributes.size() + parts > segment::kMaxAttributes) continue;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t begin = part * segment::kMaxAttributeBytes;
      const std::size_t end = std::min(bytes.size(), begin + segment::kMaxAttributeBytes);
      entry.attributes[part_name(part)] = std::vector<std::byte>(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                                                 bytes.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return true;
  }
  return false;
}

std::optional<RankPlaces> places_of(const std::vector<segment::RegionEntry>& entries) {
  std::vector<std::byte> bytes;
  for (const auto& entry : entries) {
    if (entry.attributes.empty()) continue;
    const auto& said = entry.attributes.map();
    for (std::size_t part = 0; part < kMostParts; ++part) {
      const auto found = said.find(part_name(part));
      const auto* more = found == said.end() ? nullptr : std::get_if<std::vector<std::byte>>(&found->second);
      if (more == nullptr) break;
      bytes.insert(bytes.end(), more->begin(), more->end());
    }
    if (bytes.empty()) continue;
    auto places = base::decode_fields<RankPlaces>(bytes, "places");
    if (!places || (!places->cpus.empty() && places->cpus.back() >= os::CpuSet::kMost)) return std::nullopt;
    return std::move(*places);
  }
  return std::nullopt;
}

PlacesHere places_here(const RankPlaces& then, const std::map<std::uint32_t, std::uint64_t>& bytes,
                       const MachineImage& here, const os::CpuSet& own) {
  if (!then.machine.known() || !here.known()) return {};
  PlacesHere found = planned(then, then.machine, bytes, here);
  const auto was_near = nodes_with(then.machine, set_of(then.cpus)), is_near = nodes_with(here, own);
  const bool near_still = std::any_of(was_near.begin(), was_near.end(),
                                      [&](std::uint32_t node) { return is_near.contains(found.nodes.at(node)); });
  if (near_still || was_near.empty() || is_near.empty()) return found;
  const auto moved = planned(then, limited(then.machine, set_of(then.cpus), {}), bytes, limited(here, own, {}));
  for (const auto& [node, other] : moved.nodes) found.nodes[node] = other;
  found.threads = moved.threads;
  return found;
}

}  // namespace perdure::affinity
