#pragma once
// Checkpoints of a mesh in Perdure: each box is an array that all ranks have together, so that they come back on any
// number of ranks, out of any tier.
#include <memory>
#include <string>

#include "mesh/checkpoint_store.hpp"
#include "perdure/perdure.hpp"

namespace perdure::mesh {

/// Under `name`. The handle outlives it, and has no other regions.
std::unique_ptr<CheckpointStore> perdure_store(perdure::Handle& handle, std::string name);

}  // namespace perdure::mesh
