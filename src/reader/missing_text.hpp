#pragma once
// Words the error of a version that lacks segments. Inside this module only.
#include "store/store.hpp"

namespace perdure::reader {

base::Error missing_segments(const store::VersionListing& listing);

}  // namespace perdure::reader
