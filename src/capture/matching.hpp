#pragma once
// Which stored region fills which protected one, and all in which the two differ. Pure. (docs/adr/0048)
#include <string>
#include <vector>

#include "capture/region.hpp"

namespace perdure::capture {

/// The protected regions that a restore asks for.
struct Wanted {
  std::vector<std::int32_t> ids;  ///< ascending
  bool all = false;               ///< all that there are: then nothing that is stored may be left over
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
  std::vector<std::int32_t> absent;           ///< wanted, not stored, and may be so; ascending
  std::vector<RegionDifference> differences;  ///< none: it fits
};

/// By stored entry the protected region that it belongs to, or kNoRegion, whatever their sizes. Where both have a name,
/// names decide, as RegionChanges says what they are now. Numbers decide where one side has none, and among several
/// that have the same name.
std::vector<std::int32_t> pair_regions(const RegionTable& table, const std::vector<segment::RegionEntry>& stored);

/// PERDURE_CORRUPT: what is stored of an array is none.
base::Result<Matching> match_regions(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                                     const Wanted& wanted);

/// The entry of `stored` that fills region `id`: which does not have to be protected, and then counts by its number.
/// The number of entries: there is none.
std::size_t entry_for(const RegionTable& table, const std::vector<segment::RegionEntry>& stored, std::int32_t id);

/// PERDURE_MISMATCH about `object`: all of them in one text, or the first 200 and how many there are.
base::Error mismatch(const std::vector<RegionDifference>& differences, const std::string& object);

}  // namespace perdure::capture
