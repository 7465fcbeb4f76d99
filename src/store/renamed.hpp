#pragma once
// A user may rename a name's directory by hand. Its segments still say the old name: they are intact, and no damage.
#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::store {

/// Tells whether a manifest fits its place in everything but the checkpoint's name.
bool differs_in_name(const segment::VersionId& said, const segment::VersionId& place);

/// PERDURE_MISMATCH: the directory `name` holds segments that say `said`.
base::Error renamed_directory(const std::string& name, const std::string& said);

/// Gives the place to which `perdure rename` moves a directory whose name its copy is to get.
std::string aside_name(const std::string& name);

}  // namespace perdure::store
