#pragma once
// What a directory is in which no checkpoint was found: people name the directory beside the store, or one within it.
#include <optional>
#include <string>

#include "base/result.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

/// Why this directory is no store, and which one was probably meant. Nothing when it may be a store that is empty.
/// Looks two directories deep; stores that are no directories cannot be mistaken.
std::optional<base::Error> not_a_store(const store::Store& store);

}  // namespace perdure::inspect
