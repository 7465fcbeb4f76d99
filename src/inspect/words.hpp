#pragma once
// Words of a command line, for messages. Pure.
#include <string>
#include <string_view>
#include <vector>

namespace perdure::inspect {

/// The word of `known` that `word` was probably meant to be; empty when none is near enough to be worth a mention.
std::string meant(std::string_view word, const std::vector<std::string>& known);

/// Words as a shell reads them back: quoted where they need it, with blanks between.
std::string shell_text(const std::vector<std::string>& words);

/// "a", "a and b", "a, b and c"; of more than `most` the first ones, "and 7 more".
std::string enumerated(const std::vector<std::string>& words, std::size_t most = 8);

}  // namespace perdure::inspect
