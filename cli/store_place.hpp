#pragma once
// What a directory is in which no checkpoint was found: people name the directory beside the store, or one within it.
#include <optional>
#include <string>

#include "base/result.hpp"

namespace perdure::cli {

/// Why this directory is no store, and which one was probably meant. Nothing when it may be a store that is empty.
/// Looks two directories deep.
std::optional<base::Error> not_a_store(const std::string& directory);

}  // namespace perdure::cli
