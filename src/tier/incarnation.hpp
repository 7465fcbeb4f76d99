#pragma once
// Identifies the incarnation of a tier's directory, from its creation to its removal.
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace perdure::tier {

/// Returns the random number in the directory's file `incarnation`, which is made if it is missing or incomplete. A
/// directory that was removed and made again has another number, and a catalog's records about its slots are void.
/// `existing`: fails with PERDURE_NOT_FOUND instead of making one.
base::Result<std::uint64_t> read_or_make_incarnation(const std::string& directory, bool existing = false);

}  // namespace perdure::tier
