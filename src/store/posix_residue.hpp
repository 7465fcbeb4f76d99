#pragma once
// What lies in a posix store besides its segments, judged by names and by the beginnings of files.
#include "store/store.hpp"

namespace perdure::store {

base::Result<std::vector<Residue>> find_residue(const std::string& root);

}  // namespace perdure::store
