#pragma once
// Checkpoints in Perdure: each box is an array that all ranks have together, so that they come back on any
// number of ranks, out of any tier.
#include <memory>
#include <string>

#include "automatic/checkpoint_store.hpp"
#include "perdure/perdure.h"

namespace perdure::automatic {

/// Under `name`. The handle outlives it, and has no other regions. `at_once`: what is written was copied when write()
/// returns, also with `capture.mode` cow: nobody reads the program's memory later.
std::unique_ptr<CheckpointStore> perdure_store(perdure_t* handle, std::string name, bool at_once = false);

}  // namespace perdure::automatic
