#include "cli/usage.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/libraries.hpp"
#include "inspect/words.hpp"

namespace perdure::cli {
namespace {

using base::Error;
using Words = std::vector<std::string>;

constexpr std::size_t kMostShown = 200;

std::string shortened(const std::string& word) { return word.substr(0, kMostShown); }
bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

Words option_names(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

const CLI::App* find_verb(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

Words options_of_verbs(const CLI::App& app) {
  Words all;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    const Words names = option_names(*verb);
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

std::string help_of(const std::string& command) { return command + " --help lists what there is"; }

Error unknown_option(const CLI::App& app, const std::string& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('=')), near = meant(name, option_names(app));
  return {PERDURE_INVALID_ARGUMENT, command + " " + shortened(name), "there is no such option",
          near.empty() ? help_of(command) : "did you mean " + near + "? " + help_of(command), false};
}

/// Gives the words that the parser could not place, in the order typed.
Words leftovers(const CLI::App& app) {
  Words words = app.remaining();
  std::erase(words, "--");
  return words;
}

/// Finds the beginning of a program that was typed without "--": the first leftover that is no option. Leftovers are
/// matched from the end, as the same word may stand before them as the value of an option.
std::size_t program_begins(const Words& typed, const Words& left) {
  std::size_t at = typed.size(), begins = typed.size();
  for (auto word = left.rbegin(); word != left.rend(); ++word) {
    while (at > 0 && typed[at - 1] != *word) --at;
    if (at == 0) break;
    --at;
    if (!is_option(*word)) begins = at;
  }
  return begins;
}

Error missing_dashes(const Words& typed, const Words& left) {
  const auto begins = static_cast<std::ptrdiff_t>(program_begins(typed, left));
  Words right{"perdure"};
  right.insert(right.end(), typed.begin(), typed.begin() + begins);
  right.emplace_back("--");
  right.insert(right.end(), typed.begin() + begins, typed.end());
  return {PERDURE_INVALID_ARGUMENT,
          "perdure " + typed.front() + " " + shortened(shell_text({typed.begin() + begins, typed.end()})),
          "the program to run stands behind --, which is missing", "type: " + shell_text(right), false};
}

Error unplaced(const CLI::App& app, const std::string& command, const Words& typed, bool dashes) {
  const Words left = leftovers(app);
  if (left.empty()) return {PERDURE_INVALID_ARGUMENT, command, "its arguments cannot be read", help_of(command), false};
  const bool run = takes_program(typed.front());
  if (run && !dashes && !is_option(left.front())) return missing_dashes(typed, left);
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (option != left.end()) return unknown_option(app, command, *option);
  return {PERDURE_INVALID_ARGUMENT, command + " " + shortened(shell_text(left)),
          left.size() > 1 ? "these arguments are too many" : "this argument is too many", help_of(command), false};
}

/// Gives the option of the parser's error, if there is one, and the error.
std::pair<std::string, std::string> split(const CLI::ParseError& error) {
  constexpr std::string_view kConversion = "Could not convert: ";
  const std::string text = error.what();
  if (text.starts_with(kConversion)) {
    const std::size_t end = text.find(" = ", kConversion.size());
    if (end == std::string::npos) return {"", text};
    return {text.substr(kConversion.size(), end - kConversion.size()),
            "'" + shortened(text.substr(end + 3)) + "' is not a value that it takes"};
  }
  const std::size_t colon = text.find(": ");
  if (colon == std::string::npos || text.find(' ') < colon) return {"", text};
  const bool no_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with("missing");
  return {text.substr(0, colon), no_value ? "it needs a value" : text.substr(colon + 2)};
}

}  // namespace

std::optional<Error> unknown_verb(const CLI::App& app, const Words& typed) {
  const std::string& first = typed.front();
  Words known = option_names(app);
  const bool ours = first == "-h" || std::find(known.begin(), known.end(), first) != known.end();
  if (ours || find_verb(app, first) != nullptr) return std::nullopt;
  Words verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb->get_name());
  const bool option = is_option(first);
  known.insert(known.end(), verbs.begin(), verbs.end());
  const std::string name = first.substr(0, first.find('=')), near = meant(name, known);
  const std::string of_verb = option ? meant(name, options_of_verbs(app)) : "";
  const std::string remedy =
      (near.empty() ? "" : "did you mean perdure " + near + "? ") +
      (option ? "options of a verb stand behind it: perdure VERB " + (of_verb.empty() ? "[OPTIONS]" : of_verb)
              : "the verbs are " + enumerated(verbs, verbs.size()));
  return Error{PERDURE_INVALID_ARGUMENT, "perdure " + shell_text({shortened(first)}),
               option ? "there is no such option before the verb" : "there is no such verb", remedy, false};
}

Error usage_error(const CLI::App& app, const Words& typed, bool dashes, const CLI::ParseError& error) {
  const CLI::App* verb = find_verb(app, typed.front());
  const CLI::App& parsed = verb == nullptr ? app : *verb;
  const std::string command = verb == nullptr ? "perdure" : "perdure " + verb->get_name();
  // Arguments that fit nowhere come first: one of them may be the value that is missing.
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (extras || !leftovers(parsed).empty()) return unplaced(parsed, command, typed, dashes);
  const auto [name, cause] = split(error);
  return {PERDURE_INVALID_ARGUMENT, name.empty() ? command : command + " " + name, cause,
          command + " --help explains it", false};
}

}  // namespace perdure::cli
