#pragma once
// A name's directory that somebody renamed by hand. Its segments still say the old name: they are whole, and no damage.
#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::store {

/// Whether a manifest fits its place in everything but the checkpoint's name.
bool differs_in_name(const segment::VersionId& said, const segment::VersionId& place);

/// PERDURE_MISMATCH: the directory `name` holds segments that say `said`.
base::Error renamed_directory(const std::string& name, const std::string& said);

/// Where `perdure rename` puts a directory that has the name which its copy is to get.
std::string aside_name(const std::string& name);

}  // namespace perdure::store
