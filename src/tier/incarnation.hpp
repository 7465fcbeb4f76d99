#pragma once
// Which life of a tier's directory this is.
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace perdure::tier {

/// The random number in the file `incarnation` of the directory, which is made if there is none, or half of one. A
/// directory that was removed and made anew has another: what a catalog says of its slots holds no more.
/// `existing`: PERDURE_NOT_FOUND instead of making one.
base::Result<std::uint64_t> read_or_make_incarnation(const std::string& directory, bool existing = false);

}  // namespace perdure::tier
