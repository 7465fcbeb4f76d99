#pragma once
// Versions in a text for people.
#include <cstdint>
#include <string>
#include <vector>

#include "segment/manifest.hpp"

namespace perdure::segment {

/// "run versions 8 to 25, heat version 3 and 2 other names": of three names at most. `ids` are in any order.
std::string version_ranges(const std::vector<VersionId>& ids);

/// "its versions are 10, 20, 30": of many, the first and the last ones. Empty without any; in any order.
std::string versions_there(std::vector<std::uint64_t> versions);

}  // namespace perdure::segment
