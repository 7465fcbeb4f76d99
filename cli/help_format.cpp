#include "cli/help_format.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace perdure::cli {
namespace {

constexpr std::size_t kColumns = 80, kLeftColumn = 30;

/// Takes the name of a type of CLI11, with its check behind a colon.
std::string value_word(const std::string& type) {
  const auto members = type.find('{');
  if (members != std::string::npos) return type.substr(members);
  if (type.starts_with("UINT") || type.starts_with("INT")) return "N";
  return type.starts_with("FLOAT") ? "NUMBER" : "VALUE";
}

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kLeftColumn); }

  std::string make_option_opts(const CLI::Option* option) const override {
    const bool named = !option->get_lnames().empty() || !option->get_snames().empty();
    const std::string value = named ? value_text(*option) : "";
    return value.empty() ? "" : " " + value;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(description_text(*option), kColumns - kLeftColumn);
  }
};

}  // namespace

std::string value_text(const CLI::Option& option) {
  const bool takes_one = option.get_type_size() != 0 && !option.get_type_name().empty();
  return takes_one ? value_word(option.get_type_name()) : "";
}

std::string description_text(const CLI::Option& option) {
  const std::string& value = option.get_default_str();
  return option.get_description() + (value.empty() ? "" : " (default: " + value + ")");
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

std::string wrapped(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t word = end - at;
    if (line > 0) lines += line + 1 + word > width ? '\n' : ' ';
    line = line == 0 || line + 1 + word > width ? word : line + 1 + word;
    lines += text.substr(at, word);
    at = end + 1;
  }
  return lines;
}

}  // namespace perdure::cli
