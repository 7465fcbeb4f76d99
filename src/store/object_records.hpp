#pragma once
// Keeps the small records of a checkpoint as objects. Inside this module only.
#include "store/objects.hpp"
#include "store/owner.hpp"
#include "store/store.hpp"

namespace perdure::store {

/// The record of an owner or runner under `key`. No value: there is none.
base::Result<std::optional<Owner>> read_owner(Objects& objects, const std::string& key);
/// Replaces the record if it still says `expected`; a damaged one counts as none. PERDURE_EXISTS, with `changed` as the
/// cause: it says something else.
base::Status replace_owner(Objects& objects, const std::string& key, const std::optional<Owner>& expected,
                           const Owner& next, const std::string& changed);

}  // namespace perdure::store
