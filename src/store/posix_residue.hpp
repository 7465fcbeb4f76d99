#pragma once
// Finds files in a posix store other than its segments, by names and by the beginnings of files.
#include "store/posix_place.hpp"

namespace perdure::store {

base::Result<std::vector<Residue>> find_residue(const PosixPlace& place);
/// Finds only quarantined ones; versions are not looked at.
base::Result<std::vector<Residue>> find_quarantined(const PosixPlace& place);

}  // namespace perdure::store
