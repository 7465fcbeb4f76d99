#pragma once
// Which known word a misspelt one was probably meant to be.
#include <span>
#include <string_view>

namespace perdure::config {

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The known word with the smallest distance (the first of several); empty when there is none. Words are cut at 128
/// characters, so that hostile input costs nothing.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace perdure::config
