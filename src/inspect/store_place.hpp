#pragma once
// Explains why a directory has no checkpoint: people name the directory beside the store, or one within it.
#include <optional>
#include <string>

#include "base/result.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

/// Says why this directory is no store, and which one was probably meant. Empty when it holds a checkpoint, or may be
/// an empty store. Looks two directories deep; stores that are no directories cannot be mistaken.
std::optional<base::Error> not_a_store(store::Store& store);

}  // namespace perdure::inspect
