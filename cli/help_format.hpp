#pragma once
// How --help looks: lines of a terminal of 80 columns, and words that say what a value is.
#include <memory>
#include <string>

namespace CLI {
class FormatterBase;
class Option;
}  // namespace CLI

namespace perdure::cli {

std::shared_ptr<CLI::FormatterBase> help_formatter();

/// The word for an option's value: "N", "NUMBER", "VALUE", or "{one,of,these}"; empty: it takes none.
std::string value_text(const CLI::Option& option);
/// The description of an option, with its default.
std::string description_text(const CLI::Option& option);

/// `text` in lines of at most `width` characters, cut at blanks; a word that is longer stands alone. Pure.
std::string wrapped(const std::string& text, std::size_t width);

}  // namespace perdure::cli
