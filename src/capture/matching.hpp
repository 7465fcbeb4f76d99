#pragma once
// Pairs stored regions with protected ones, and finds all their differences. Pure. (docs/adr/0048)
#include <string>
#include <vector>

#include "capture/region.hpp"

namespace perdure::capture {

/// The protected regions that a restore asks for.
struct Wanted {
  std::vector<std::int32_t> ids;  ///< ascending
  bool all = false;               ///< all that there are: then no stored region may be left over
};

struct RegionDifference {
  enum class Kind {
    not_protected,  ///< it is asked for
    missing,        ///< it is protected, and not stored
    left_over,      ///< it is stored, and not protected
    unlike,         ///< it is of another size, type, shape or kind
  };
  Kind kind = Kind::unlike;
  std::string text;  ///< "region 2 'extra' is protected and not stored"
};

struct Matching {
  std::vector<std::int32_t> to;               ///< by stored entry: the wanted region that it fills, or kNoRegion
  std::vector<std::int32_t> absent;           ///< wanted and not stored, which is allowed; ascending
  std::vector<RegionDifference> differences;  ///< none: it fits
};

/// Returns by stored entry the protected region that it belongs to, or kNoRegion, whatever their sizes. If both have a
/// name, names decide, after RegionChanges. Numbers decide if one side has none, and among several that have the same
/// name.
std::vector<std::int32_t> pair_regions(const RegionTable& table, const std::vector<segment::RegionEntry>& stored);

/// Fails with PERDURE_CORRUPT if a stored array is invalid.
base::Result<Matching> match_regions(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                                     const Wanted& wanted);

/// Returns the entry of `stored` that fills region `id`; the number of entries if there is none. A region that is not
/// protected counts by its number.
std::size_t entry_for(const RegionTable& table, const std::vector<segment::RegionEntry>& stored, std::int32_t id);

/// Returns PERDURE_MISMATCH about `object`, with all differences in one text, or the first 200 and the count.
base::Error mismatch(const std::vector<RegionDifference>& differences, const std::string& object);

}  // namespace perdure::capture
