#pragma once
// Compares the stores of two runs of a program, region by region and rank by rank.
#include <functional>

#include "inspect/check_protection_verdict.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

struct StoredCheckpoint {
  Checkpoint what;
  store::VersionListing listing;
};

/// Gives every version that is complete in the store, ascending by time; of several attempts, the newest.
base::Result<std::vector<StoredCheckpoint>> complete_versions(store::Store& store);

/// Copies one version, all its segments, into another store. The attempt stays the same.
base::Status copy_version(store::Store& from, const store::VersionListing& listing, store::Store& to);

/// Called repeatedly during long work; an error ends the work.
using GoOn = std::function<base::Status()>;

/// Adds to `comparison` the differences between the versions that it lists as compared.
base::Status compare_stores(store::Store& here, store::Store& there, Comparison& comparison, const GoOn& go_on);

}  // namespace perdure::inspect
