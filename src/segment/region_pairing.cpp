#include "segment/region_pairing.hpp"

#include <unordered_map>

#include "segment/array_entry.hpp"

namespace perdure::segment {
namespace {

using ByName = std::unordered_map<std::string_view, std::vector<std::size_t>>;

/// Finds partners for regions.
class RegionPairing {
 public:
  RegionPairing(const std::vector<CalledRegion>& regions, const std::vector<CalledRegion>& others,
                const KnownPairs& known)
      : regions_(regions), others_(others), known_(known), partners_(known.partners), taken_(others.size()) {
    partners_.resize(regions.size(), kNoPartner);
    for (const std::size_t partner : partners_)
      if (partner != kNoPartner) taken_[partner] = true;
  }

  std::vector<std::size_t> partners() {
    const ByName names = by_name(others_, [&](std::size_t i) { return !taken_[i]; });
    if (!names.empty())
      for (const auto& [name, mine] : by_name(regions_, [&](std::size_t i) { return partners_[i] == kNoPartner; }))
        if (const auto found = names.find(name); found != names.end()) pair_named(mine, found->second);
    pair_numbered();
    return std::move(partners_);
  }

 private:
  template <class IsFree>
  static ByName by_name(const std::vector<CalledRegion>& regions, const IsFree& is_free) {
    ByName found;
    for (std::size_t i = 0; i < regions.size(); ++i)
      if (!regions[i].name.empty() && is_free(i)) found[regions[i].name].push_back(i);
    return found;
  }

  void pair_named(const std::vector<std::size_t>& mine, const std::vector<std::size_t>& theirs) {
    if (mine.size() == 1 && theirs.size() == 1) return pair(mine.front(), theirs.front());
    std::unordered_map<std::int32_t, std::size_t> numbers;
    for (const std::size_t j : theirs) numbers.emplace(others_[j].id, j);
    for (const std::size_t i : mine)
      if (const auto found = numbers.find(regions_[i].id); found != numbers.end()) pair(i, found->second);
  }

  void pair_numbered() {
    std::unordered_map<std::int32_t, std::size_t> numbers;
    numbers.reserve(others_.size());
    for (std::size_t j = 0; j < others_.size(); ++j)
      if (!taken_[j]) numbers.emplace(others_[j].id, j);
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (partners_[i] != kNoPartner || (!known_.only_by_name.empty() && known_.only_by_name[i])) continue;
      const auto found = numbers.find(regions_[i].id);
      if (found != numbers.end() && (regions_[i].name.empty() || others_[found->second].name.empty()))
        pair(i, found->second);
    }
  }

  void pair(std::size_t i, std::size_t j) {
    partners_[i] = j;
    taken_[j] = true;
  }

  const std::vector<CalledRegion>& regions_;
  const std::vector<CalledRegion>& others_;
  const KnownPairs& known_;
  std::vector<std::size_t> partners_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<CalledRegion> called(const std::vector<RegionEntry>& entries) {
  std::vector<CalledRegion> regions;
  regions.reserve(entries.size());
  for (const RegionEntry& entry : entries) regions.push_back({entry.id, name_of(entry)});
  return regions;
}

std::vector<std::size_t> pair_regions(const std::vector<CalledRegion>& regions, const std::vector<CalledRegion>& others,
                                      const KnownPairs& known) {
  return RegionPairing(regions, others, known).partners();
}

}  // namespace perdure::segment
