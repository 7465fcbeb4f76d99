#pragma once
// Formats --help: lines of a terminal of 80 columns, and words for values.
#include <memory>
#include <string>

namespace CLI {
class FormatterBase;
class Option;
}  // namespace CLI

namespace perdure::cli {

std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Gives the word for an option's value: "N", "NUMBER", "VALUE", or "{one,of,these}"; empty: it takes none.
std::string value_text(const CLI::Option& option);
/// Gives the description of an option, with its default.
std::string description_text(const CLI::Option& option);

/// Breaks `text` into lines of at most `width` characters at blanks; a word that is longer stands alone. Pure.
std::string wrapped(const std::string& text, std::size_t width);

}  // namespace perdure::cli
