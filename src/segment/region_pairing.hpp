#pragma once
// Pairs two lists of regions: by name if both have one, else by number. Pure. (docs/adr/0048)
#include <cstdint>
#include <string_view>
#include <vector>

#include "segment/manifest.hpp"

namespace perdure::segment {

/// A region's number and name. No two of a list have the same number.
struct CalledRegion {
  std::int32_t id = 0;
  std::string_view name = {};  ///< empty: it has none
};
std::vector<CalledRegion> called(const std::vector<RegionEntry>& entries);

inline constexpr std::size_t kNoPartner = ~std::size_t{0};

/// Facts about a pairing that are known beforehand, by index; empty ones say nothing.
struct KnownPairs {
  std::vector<std::size_t> partners = {};  ///< by `regions`: some have theirs already
  std::vector<bool> only_by_name = {};     ///< by `regions`: its number says nothing
};

/// Returns for each of `regions` its partner among `others`, or kNoPartner; each of `others` is used once. If both have
/// a name, names decide. Numbers decide among several of the same name, and if one side has no name.
std::vector<std::size_t> pair_regions(const std::vector<CalledRegion>& regions, const std::vector<CalledRegion>& others,
                                      const KnownPairs& known = {});

}  // namespace perdure::segment
