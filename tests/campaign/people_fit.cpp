// Matches stored regions with a program's regions, as docs/adr/0048 says. This is the model's own implementation, which
// shares no code with capture/matching.
#include <algorithm>

#include "campaign/people_model.hpp"

namespace perdure::campaign {
namespace {

std::string called(int id, const std::string& name) { return name.empty() ? std::to_string(id) : name; }
std::string told(int id, const std::string& name) {
  return "region " + std::to_string(id) + (name.empty() ? "" : " '" + name + "'");
}
std::string elements(int count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements") + " of 8 bytes";
}

class Fitting {
 public:
  Fitting(const Code& code, const std::vector<StoredRegion>& stored) : code_(code), stored_(stored) {
    for (const auto& [before, now] : code.renamed) renamed_[before] = now;
  }
  Fit fit() {
    by_renames();
    by_names();
    by_numbers();
    Fit found;
    for (const CodeRegion& region : code_.regions) tell_of(region, found);
    for (const StoredRegion& one : stored_)
      if (!is_taken(one) && !passes_over("*") && !passes_over(called(one.id, one.name)))
        found.differences.push_back(told(one.id, one.name) + " is stored and not protected");
    return found;
  }

 private:
  const StoredRegion* stored_as(const std::string& name) const {
    const auto at =
        std::find_if(stored_.begin(), stored_.end(), [&](const auto& one) { return called(one.id, one.name) == name; });
    return at == stored_.end() ? nullptr : &*at;
  }
  const CodeRegion* protected_as(const std::string& name) const {
    const auto at = std::find_if(code_.regions.begin(), code_.regions.end(),
                                 [&](const auto& one) { return called(one.id, one.name) == name; });
    return at == code_.regions.end() ? nullptr : &*at;
  }
  bool passes_over(const std::string& name) const {
    return std::find(code_.passed_over.begin(), code_.passed_over.end(), name) != code_.passed_over.end();
  }
  bool is_taken(const StoredRegion& one) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.second == &one; });
  }
  // A checkpoint that also has the new name was written by the renamed program, unless that name has gone on.
  bool holds(const std::string& before, const std::string& now) const {
    if (stored_as(before) == nullptr || protected_as(now) == nullptr) return false;
    if (stored_as(now) == nullptr) return true;
    if (const auto next = renamed_.find(now); next != renamed_.end()) return holds(now, next->second);
    return passes_over(now) && protected_as(before) == nullptr;
  }
  void by_renames() {
    std::map<int, std::vector<const StoredRegion*>> found;
    for (const auto& [before, now] : renamed_)
      if (holds(before, now)) found[protected_as(now)->id].push_back(stored_as(before));
    for (const auto& [id, those] : found)
      if (those.size() == 1) pairs_[id] = those.front();
  }
  void by_names() {
    for (const CodeRegion& region : code_.regions) {
      if (region.name.empty() || pairs_.contains(region.id)) continue;
      for (const StoredRegion& one : stored_)
        if (one.name == region.name && !is_taken(one)) pairs_[region.id] = &one;
    }
  }
  void by_numbers() {
    for (const StoredRegion& one : stored_) {
      if (is_taken(one) || (!one.name.empty() && passes_over(one.name))) continue;
      for (const CodeRegion& region : code_.regions)
        if (region.id == one.id && !pairs_.contains(region.id) && (one.name.empty() || region.name.empty()))
          pairs_[region.id] = &one;
    }
  }
  void tell_of(const CodeRegion& region, Fit& found) const {
    const std::string mine = told(region.id, region.name);
    if (!pairs_.contains(region.id)) {
      if (!region.optional) found.differences.push_back(mine + " is protected and not stored");
      return;
    }
    const StoredRegion& one = *pairs_.at(region.id);
    const std::string theirs = told(one.id, one.name);
    const std::string both = mine + (mine == theirs ? "" : " (stored as " + theirs + ")");
    found.filled[region.id] = one.id;
    if (one.count != region.count)
      found.differences.push_back(both + ": it was stored as " + elements(one.count) + ", and is protected as " +
                                  elements(region.count));
    else if (!one.type.empty() && !region.type.empty() && one.type != region.type)
      found.differences.push_back(both + ": its element type was stored as " + one.type + ", and is protected as " +
                                  region.type);
  }

  const Code& code_;
  const std::vector<StoredRegion>& stored_;
  std::map<std::string, std::string> renamed_;
  std::map<int, const StoredRegion*> pairs_;  // by the number of a region in the code
};

}  // namespace

Fit fit_of(const Code& code, const std::vector<StoredRegion>& stored) { return Fitting(code, stored).fit(); }

std::vector<StoredRegion> stored_by(const Code& code, const std::vector<int>& counts) {
  std::vector<StoredRegion> stored;
  for (std::size_t i = 0; i < code.regions.size(); ++i)
    stored.push_back({code.regions[i].id, code.regions[i].name, counts[i], code.regions[i].type});
  return stored;
}

}  // namespace perdure::campaign
