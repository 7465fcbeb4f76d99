#pragma once
// Records what a program says about changes of its regions since a checkpoint was stored. Pure. (docs/adr/0048)
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::capture {

/// In place of a region's id: none.
inline constexpr std::int32_t kNoRegion = -1;

/// Regions are called by their names, or, without one, by their numbers as texts ("5"): no name begins with a digit.
class RegionChanges {
 public:
  /// Says that the stored region `before` is the protected one `now`. A second call with the same `before` replaces the
  /// first. PERDURE_INVALID_ARGUMENT: one of them is no name and no number, or the renames form a circle. In a circle
  /// old checkpoints could not be told from new ones.
  base::Status rename(const std::string& before, const std::string& now);
  /// Accepts a stored region that the program does not protect; "*": all such.
  base::Status pass_over(const std::string& region);
  bool passes_over(const segment::RegionEntry& stored) const;
  /// Whether it is passed over by its name, or by its number if it has none, and not by "*".
  bool passes_over_by_name(std::string_view called) const { return passed_over_.contains(called); }
  /// Returns present names by former names.
  const std::map<std::string, std::string>& renamed() const { return renamed_; }

 private:
  std::map<std::string, std::string> renamed_;
  std::set<std::string, std::less<>> passed_over_;
  bool passes_over_all_ = false;
};

/// Parses a number from 0 to 2^31 - 1; kNoRegion if it is none.
std::int32_t region_number(const std::string& text);

}  // namespace perdure::capture
