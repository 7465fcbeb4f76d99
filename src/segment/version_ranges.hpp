#pragma once
// Formats versions for people.
#include <cstdint>
#include <string>
#include <vector>

#include "segment/manifest.hpp"

namespace perdure::segment {

/// Returns "run versions 8 to 25, heat version 3 and 2 other names": at most three names. `ids` are in any order.
std::string version_ranges(const std::vector<VersionId>& ids);

/// Returns "its versions are 10, 20, 30": of very many, the first and the last ones. Empty without any; in any order.
std::string versions_there(std::vector<std::uint64_t> versions);

}  // namespace perdure::segment
