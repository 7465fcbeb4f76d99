#pragma once
// What a program says of how its regions have changed since a checkpoint was stored. Pure. (docs/adr/0048)
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::capture {

/// In place of a region's id: of none.
inline constexpr std::int32_t kNoRegion = -1;

/// Regions are called by their names, and those without one by their numbers as texts ("5"): no name begins with a
/// digit.
class RegionChanges {
 public:
  /// A stored region that was called `before` is the protected one called `now`. Again with the same `before`:
  /// replaces. PERDURE_INVALID_ARGUMENT: one of them is no name and no number, or names would go round in a circle:
  /// then a checkpoint of before could not be told from one of now.
  base::Status rename(const std::string& before, const std::string& now);
  /// A stored region is no mistake though the program does not protect it; "*": none is.
  base::Status pass_over(const std::string& region);
  bool passes_over(const segment::RegionEntry& stored) const;
  /// By its name, or by its number if it has none, and not with all others.
  bool passes_over_by_name(std::string_view called) const { return passed_over_.contains(called); }
  /// What regions are called now, by what they were called.
  const std::map<std::string, std::string>& renamed() const { return renamed_; }

 private:
  std::map<std::string, std::string> renamed_;
  std::set<std::string, std::less<>> passed_over_;
  bool passes_over_all_ = false;
};

/// A number from 0 to 2^31 - 1 as a text; kNoRegion: it is none.
std::int32_t region_number(const std::string& text);

}  // namespace perdure::capture
