#include "capture/matching.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "segment/region_pairing.hpp"

namespace perdure::capture {
namespace {

using Kind = RegionDifference::Kind;
using segment::RegionEntry;

constexpr std::size_t kMostTold = 200;

using segment::CalledRegion;
using segment::kNoPartner;

/// Applies RegionChanges to these stored regions.
class ChangedNames {
 public:
  ChangedNames(const RegionChanges& changes, const std::vector<CalledRegion>& stored,
               const std::vector<CalledRegion>& protected_ones)
      : changes_(changes), stored_(stored), protected_(protected_ones) {}

  /// Returns partners by stored region; if two have become one, neither is taken.
  std::vector<std::size_t> partners() const {
    std::vector<std::size_t> partners(stored_.size(), kNoPartner);
    std::map<std::size_t, std::vector<std::size_t>> found;
    for (const auto& [before, now] : changes_.renamed())
      if (is_renamed(before, now)) found[the_one(protected_, now)].push_back(the_one(stored_, before));
    for (const auto& [partner, regions] : found)
      if (regions.size() == 1) partners[regions.front()] = partner;
    return partners;
  }

 private:
  static bool is_called(const CalledRegion& region, const std::string& called) {
    return region.name.empty() ? region.id == region_number(called) : region.name == called;
  }
  static std::size_t count(const std::vector<CalledRegion>& regions, const std::string& called) {
    return static_cast<std::size_t>(
        std::count_if(regions.begin(), regions.end(), [&](const auto& one) { return is_called(one, called); }));
  }
  // kNoPartner: there is none, or several.
  static std::size_t the_one(const std::vector<CalledRegion>& regions, const std::string& called) {
    if (count(regions, called) != 1) return kNoPartner;
    const auto at =
        std::find_if(regions.begin(), regions.end(), [&](const auto& one) { return is_called(one, called); });
    return static_cast<std::size_t>(at - regions.begin());
  }

  // A checkpoint of the renamed program has the new name, which then refers to itself. The exception is a new name that
  // is itself renamed or passed over.
  bool is_renamed(const std::string& before, const std::string& now) const {
    if (the_one(stored_, before) == kNoPartner || the_one(protected_, now) == kNoPartner) return false;
    if (count(stored_, now) == 0) return true;
    if (const auto next = changes_.renamed().find(now); next != changes_.renamed().end())
      return is_renamed(now, next->second);
    return changes_.passes_over_by_name(now) && count(protected_, before) == 0;
  }

  const RegionChanges& changes_;
  const std::vector<CalledRegion>& stored_;
  const std::vector<CalledRegion>& protected_;
};

std::string sized(std::uint64_t count, std::uint64_t element_bytes) {
  return std::to_string(count) + (count == 1 ? " element of " : " elements of ") + std::to_string(element_bytes) +
         " bytes";
}

std::string said_otherwise(const std::string& what, const std::string& then, const std::string& now) {
  return what + " was stored as " + then + ", and is protected as " + now;
}

std::string array_difference(const segment::ArrayEntry& stored, const segment::ArrayEntry& wanted) {
  if (stored.type != wanted.type) return said_otherwise("its element type", stored.type.text(), wanted.type.text());
  if (stored.whole != wanted.whole) return said_otherwise("the array", stored.whole.text(), wanted.whole.text());
  return {};
}

std::string memory_difference(const Region& region, const RegionEntry& entry) {
  if (entry.element_bytes != region.element_bytes || entry.count != region.count)
    return "it was stored as " + sized(entry.count, entry.element_bytes) + ", and is protected as " +
           sized(region.count, region.element_bytes);
  if (!region.elements || entry.attributes.empty()) return {};
  const auto then = segment::elements_of(entry);
  const segment::Elements& now = *region.elements;
  if (segment::of_other_type(then, now)) return said_otherwise("its element type", then.type->text(), now.type->text());
  if (segment::of_other_shape(then, now))
    return said_otherwise("its shape", segment::extents_text(*then.extents), segment::extents_text(*now.extents));
  return {};
}

// Returns "" if they are the same.
base::Result<std::string> difference(const Region& region, const RegionEntry& entry) {
  if (region.part && entry.kind == segment::EntryKind::array) {
    PERDURE_TRY(const auto array, segment::array_of(entry, "stored checkpoint"));
    return array_difference(array, region.part->array());
  }
  if (region.part)
    return std::string("it is protected as a part of an array, and was stored as ") + segment::kind_name(entry.kind);
  if (entry.kind != segment::EntryKind::memory)
    return std::string("it is protected as memory of one rank, and was stored as ") + segment::kind_name(entry.kind);
  return memory_difference(region, entry);
}

std::string called_otherwise(const Region& region, const RegionEntry& entry) {
  const std::string mine = region.text(), stored = segment::region_text(entry);
  return mine == stored ? mine : mine + " (stored as " + stored + ")";
}

void note_missing(const RegionTable& table, const Wanted& wanted, const std::vector<std::int32_t>& filled,
                  Matching& matching) {
  std::vector<std::int32_t> missing;
  std::set_difference(wanted.ids.begin(), wanted.ids.end(), filled.begin(), filled.end(), std::back_inserter(missing));
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  for (const std::int32_t id : missing) {
    const Region* region = table.find(id);
    if (region == nullptr)
      matching.differences.push_back({Kind::not_protected, "region " + std::to_string(id) + " is not protected"});
    else if (region->optional)
      matching.absent.push_back(id);
    else
      matching.differences.push_back({Kind::missing, region->text() + " is protected and not stored"});
  }
}

}  // namespace

std::vector<std::int32_t> pair_regions(const RegionTable& table, const std::vector<RegionEntry>& stored) {
  std::vector<CalledRegion> regions;
  regions.reserve(table.regions().size());
  for (const auto& [id, region] : table.regions()) regions.push_back({id, region.name()});
  const auto entries = segment::called(stored);
  segment::KnownPairs known;
  if (!table.changes().renamed().empty()) known.partners = ChangedNames(table.changes(), entries, regions).partners();
  known.only_by_name.resize(entries.size());  // regions that are no longer wanted are not taken by their number
  for (std::size_t i = 0; i < entries.size(); ++i)
    known.only_by_name[i] = !entries[i].name.empty() && table.changes().passes_over_by_name(entries[i].name);
  std::vector<std::int32_t> to(stored.size(), kNoRegion);
  const auto partners = segment::pair_regions(entries, regions, known);
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (partners[i] != kNoPartner) to[i] = regions[partners[i]].id;
  return to;
}

base::Result<Matching> match_regions(const RegionTable& table, const std::vector<RegionEntry>& stored,
                                     const Wanted& wanted) {
  Matching matching{pair_regions(table, stored), {}, {}};
  std::vector<std::int32_t> filled;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    std::int32_t& to = matching.to[i];
    const bool left_over = to == kNoRegion;
    if (left_over && wanted.all && !table.changes().passes_over(stored[i]))
      matching.differences.push_back(
          {Kind::left_over, segment::region_text(stored[i]) + " is stored and not protected"});
    const bool asked = !left_over && std::binary_search(wanted.ids.begin(), wanted.ids.end(), to);
    if (asked || (!left_over && wanted.all)) {
      const Region& region = *table.find(to);
      PERDURE_TRY(const std::string unlike, difference(region, stored[i]));
      if (!unlike.empty())
        matching.differences.push_back({Kind::unlike, called_otherwise(region, stored[i]) + ": " + unlike});
    }
    if (asked) filled.push_back(to);
    if (!asked) to = kNoRegion;
  }
  std::sort(filled.begin(), filled.end());
  note_missing(table, wanted, filled, matching);
  std::stable_sort(matching.differences.begin(), matching.differences.end(),
                   [](const RegionDifference& a, const RegionDifference& b) { return a.kind < b.kind; });
  return matching;
}

std::size_t entry_for(const RegionTable& table, const std::vector<RegionEntry>& stored, std::int32_t id) {
  const auto numbered = std::find_if(stored.begin(), stored.end(), [&](const RegionEntry& e) { return e.id == id; });
  const Region* region = table.find(id);
  // Number and name agree: no other can be meant, unless names have changed.
  const bool same = region != nullptr && numbered != stored.end() && segment::name_of(*numbered) == region->name() &&
                    table.changes().renamed().empty();
  if (region == nullptr || same) return static_cast<std::size_t>(numbered - stored.begin());
  const auto to = pair_regions(table, stored);
  return static_cast<std::size_t>(std::find(to.begin(), to.end(), id) - to.begin());
}

base::Error mismatch(const std::vector<RegionDifference>& differences, const std::string& object) {
  base::Error error{PERDURE_MISMATCH, object, "", "", false};
  const auto has = [&](Kind kind) {
    return std::any_of(differences.begin(), differences.end(), [&](const auto& one) { return one.kind == kind; });
  };
  const auto advise = [&](bool applies, const char* remedy) {
    if (applies) error.remedy += (error.remedy.empty() ? "" : "; ") + std::string(remedy);
  };
  error.cause = "it does not fit what is protected: ";
  for (std::size_t i = 0; i < std::min(differences.size(), kMostTold); ++i)
    error.cause += (i == 0 ? "" : "; ") + differences[i].text;
  if (differences.size() > kMostTold)
    error.cause += "; and " + std::to_string(differences.size() - kMostTold) + " more differences";
  advise(has(Kind::not_protected), "protect what is to be restored");
  advise(has(Kind::missing) && has(Kind::left_over), "perdure_renamed() says that a region has another name now");
  advise(has(Kind::missing), "perdure_set_presence() says that a region may be absent");
  advise(has(Kind::left_over), "perdure_pass_over() says that a stored region is not needed any more");
  advise(has(Kind::unlike), "ask perdure_stored_size() or perdure_stored_array() and protect it as it was stored");
  return error;
}

}  // namespace perdure::capture
