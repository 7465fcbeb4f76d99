#pragma once
// Stores checkpoints in Perdure. Each box is an array over all ranks, so that any number of ranks can restore it, from
// any tier.
#include <memory>
#include <string>

#include "automatic/checkpoint_store.hpp"
#include "perdure/perdure.h"

namespace perdure::automatic {

/// Writes versions under `name`. The handle must outlive the store and have no other regions. `at_once`: write() has
/// copied all data when it returns, even if `capture.mode` is cow; nothing reads the program's memory later.
std::unique_ptr<CheckpointStore> perdure_store(perdure_t* handle, std::string name, bool at_once = false);

}  // namespace perdure::automatic
