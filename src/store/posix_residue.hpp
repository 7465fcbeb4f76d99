#pragma once
// What lies in a posix store besides its segments, judged by names and by the beginnings of files.
#include "store/posix_place.hpp"

namespace perdure::store {

base::Result<std::vector<Residue>> find_residue(const PosixPlace& place);
/// Only what is in quarantine; versions are not looked at.
base::Result<std::vector<Residue>> find_quarantined(const PosixPlace& place);

}  // namespace perdure::store
