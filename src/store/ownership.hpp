#pragma once
// Checks who owns the files of a name: a resume runs the code that their owner put there.
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace perdure::store {

class Store;

/// Checks as ssh does for keys. The store's directory, that of `name`, and all versions and segments of it, also
/// borrowed ones, must belong to `user` or to root. Nobody else may write there. PERDURE_PERMISSION names the first one
/// that fails. PERDURE_UNSUPPORTED: this store does not tell the owners of its files. A name that is not there passes.
base::Status check_ownership(const Store& store, const std::string& name, std::uint32_t user);

}  // namespace perdure::store
