#pragma once
// Finds the known word that a misspelt one probably stands for.
#include <span>
#include <string_view>

namespace perdure::config {

/// Counts the insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// Returns the known word with the smallest distance (the first of several); empty if `known` is empty. It cuts words
/// at 128 characters, so that hostile input costs nothing.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace perdure::config
