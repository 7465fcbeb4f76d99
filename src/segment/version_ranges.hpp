#pragma once
// Versions in a text for people.
#include <string>
#include <vector>

#include "segment/manifest.hpp"

namespace perdure::segment {

/// "run versions 8 to 25, heat version 3 and 2 other names": of three names at most. `ids` are in any order.
std::string version_ranges(const std::vector<VersionId>& ids);

}  // namespace perdure::segment
