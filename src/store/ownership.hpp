#pragma once
// Whose the files of a name are: whoever resumes a captured program runs what their owner put there.
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace perdure::store {

class Store;

/// As ssh asks of keys: the store's directory, that of `name`, and all versions and segments of it, borrowed ones too,
/// belong to `user` or to root, and nobody else may write there. PERDURE_PERMISSION names the first one that does not;
/// PERDURE_UNSUPPORTED: this store does not say whose its files are. A name that is not there passes.
base::Status check_ownership(const Store& store, const std::string& name, std::uint32_t user);

}  // namespace perdure::store
