#pragma once
// Explains errors of a command line, in words that say what to type instead.
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace perdure::cli {

/// Makes the error when the first word is neither a verb nor an option of `perdure` itself.
std::optional<base::Error> unknown_verb(const CLI::App& app, const std::vector<std::string>& typed);

/// Makes the error. `typed`: the words that were parsed, the verb first. `dashes`: the program of `run` was set apart
/// by "--".
base::Error usage_error(const CLI::App& app, const std::vector<std::string>& typed, bool dashes,
                        const CLI::ParseError& error);

}  // namespace perdure::cli
