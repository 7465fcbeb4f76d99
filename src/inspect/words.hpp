#pragma once
// Handles words of a command line, for messages. Pure.
#include <string>
#include <string_view>
#include <vector>

namespace perdure::inspect {

/// Gives the word of `known` that `word` was probably meant to be; empty when none is near enough to mention.
std::string meant(std::string_view word, const std::vector<std::string>& known);

/// Writes words as a shell reads them back: quoted if they need it, with blanks between.
std::string shell_text(const std::vector<std::string>& words);

/// Writes "a", "a and b", "a, b and c"; of more than `most` the first ones, "and 7 more".
std::string enumerated(const std::vector<std::string>& words, std::size_t most = 8);

}  // namespace perdure::inspect
