#pragma once
// What a directory is in which nothing was found that was looked for: people name the directory beside the store, or
// one within it.
#include <optional>
#include <string>

#include "base/result.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

/// Why this directory is no store, and which one was probably meant. Nothing when it holds a checkpoint, or may be a
/// store that is empty. Looks two directories deep; stores that are no directories cannot be mistaken.
std::optional<base::Error> not_a_store(store::Store& store);

}  // namespace perdure::inspect
