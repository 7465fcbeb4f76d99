#pragma once
// Makes pages for man(1) and completion of words in bash from the table of verbs and their options. The installation
// writes both.
#include <string>

namespace CLI {
class App;
}

namespace perdure::cli {

/// Gives the page perdure-VERB(1), or that of `perdure` itself if `verb` is empty. Empty: there is no such verb.
std::string manual_page(const CLI::App& app, const std::string& verb);
/// Gives a script for bash: verbs, their options, and the values of those that take one of a few.
std::string bash_completion(const CLI::App& app);

}  // namespace perdure::cli
