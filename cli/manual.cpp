#include "cli/manual.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <vector>

#include "cli/help_format.hpp"

namespace perdure::cli {
namespace {

/// Escapes text for roff: a backslash begins an escape, and a dot or an apostrophe at the beginning of a line a
/// request.
std::string roff(const std::string& text) {
  std::string escaped;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
    begins_line = c == '\n';
  }
  return escaped;
}

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// Writes "--store VALUE", or "NAME[@VERSION]" for an argument without a name.
std::string words_of(const CLI::Option& option) {
  const std::string value = value_text(option);
  std::string text = option.get_name(false, true);
  if (text.starts_with('-') && !value.empty()) text += " " + value;
  return text;
}

std::string options_text(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options())
    text += ".TP\n.B " + roff(words_of(*option)) + "\n" + roff(description_text(*option)) + "\n";
  return text;
}

/// Writes whole words between quotes of a shell.
std::string quoted_words(const std::vector<std::string>& words) {
  std::string text = "'";
  for (const std::string& word : words) text += (text.size() > 1 ? " " : "") + word;
  return text + "'";
}

std::vector<std::string> long_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Gives "keep none" for "{keep,none}"; empty if a value can be anything.
std::vector<std::string> choices_of(const CLI::Option& option) {
  std::string text = value_text(option);
  if (!text.starts_with('{')) return {};
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '{' || c == ',' || c == '}'; }, ' ');
  std::istringstream words(text);
  std::vector<std::string> choices;
  for (std::string word; words >> word;) choices.push_back(word);
  return choices;
}

/// Completes the value of an option that takes one of a few.
std::string choices_case(const CLI::App& verb, const CLI::Option& option) {
  const auto choices = choices_of(option);
  std::string text;
  for (const std::string& name : option.get_lnames())
    if (!choices.empty())
      text += "    " + verb.get_name() + "/--" + name + ") words=" + quoted_words(choices) + " ;;\n";
  return text;
}

// Behind `--` stands another program, which completes its own words.
const std::string kCompletionHead = R"(# bash completion of perdure. Made by perdure help --completion.
_perdure() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words= i
  COMPREPLY=()
  if ((COMP_CWORD == 1)) || { [[ $verb == help ]] && ((COMP_CWORD == 2)); }; then
    COMPREPLY=($(compgen -W )";
const std::string kCompletionOfValues = R"( -- "$current"))
    return
  fi
  for ((i = 2; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -- ]] || continue
    declare -F _command_offset >/dev/null && _command_offset $((i + 1))
    return
  done
  case $verb/$before in
)";
const std::string kCompletionOfOptions = R"(  esac
  if [[ -z $words && $current == -* ]]; then
    case $verb in
)";
const std::string kCompletionTail = R"(    esac
  fi
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _perdure perdure
)";

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& verb) {
  const auto all = verbs_of(app);
  const auto found = std::find_if(all.begin(), all.end(), [&](const CLI::App* one) { return one->get_name() == verb; });
  if (!verb.empty() && found == all.end()) return {};
  const CLI::App& of = verb.empty() ? app : **found;
  const std::string name = verb.empty() ? "perdure" : "perdure-" + verb;
  std::string text = ".TH " + capitals(name) + " 1\n.SH NAME\n" + roff(name) + " \\- " + roff(of.get_description()) +
                     "\n.SH SYNOPSIS\n.B perdure " + (verb.empty() ? "VERB" : roff(verb)) + "\n[OPTIONS]";
  for (const CLI::Option* option : of.get_options())
    if (!option->nonpositional()) text += " " + roff(option->get_name(true));
  text += "\n.SH OPTIONS\n" + options_text(of);
  if (verb.empty()) {
    text += ".SH VERBS\n";
    for (const CLI::App* one : all)
      text += ".TP\n.BR perdure\\-" + roff(one->get_name()) + " (1)\n" + roff(one->get_description()) + "\n";
  }
  if (!of.get_footer().empty()) text += ".SH NOTES\n.nf\n" + roff(of.get_footer()) + "\n.fi\n";
  if (!verb.empty()) text += ".SH SEE ALSO\n.BR perdure (1)\n";
  return text;
}

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> verbs{"help", "version"};
  std::string options, values;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs.push_back(verb->get_name());
    options += "      " + verb->get_name() + ") words=" + quoted_words(long_names(*verb)) + " ;;\n";
    for (const CLI::Option* option : verb->get_options()) values += choices_case(*verb, *option);
  }
  return kCompletionHead + quoted_words(verbs) + kCompletionOfValues + values + kCompletionOfOptions + options +
         kCompletionTail;
}

}  // namespace perdure::cli
