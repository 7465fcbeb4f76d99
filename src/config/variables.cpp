#include "config/variables.hpp"

#include <unistd.h>

#include <algorithm>

#include "config/config.hpp"
#include "config/nearest.hpp"

namespace perdure::config {
namespace {

constexpr std::string_view kVariables = "PERDURE_";
constexpr std::size_t kLongestName = 128;  // a longer name is too far from any option's to be its misspelling

std::string_view behind_prefix(std::string_view name) { return name.substr(kVariables.size()); }

std::string_view first_word(std::string_view name) { return name.substr(0, name.find('_')); }

bool is_reserved(std::string_view name) {
  return name == "PERDURE_CONFIG" || name == "PERDURE_LIBRARY" || name.starts_with("PERDURE_TEST_") ||
         name.starts_with("PERDURE_DEMO_");
}

std::size_t few_letters(std::size_t length) { return length <= 4 ? 1 : length <= 8 ? 2 : 3; }

bool resembles_an_option(std::string_view name) {
  const std::string_view word = behind_prefix(name);
  const auto is_of_its_group = [&](const Option& option) {
    const std::string_view key = option.key;
    const bool has_group = key.find('.') != std::string_view::npos;
    return has_group && first_word(behind_prefix(option.environment)) == first_word(word);
  };
  const auto all = options();
  if (std::any_of(all.begin(), all.end(), is_of_its_group)) return true;
  if (name.size() > kLongestName) return false;
  return edit_distance(word, behind_prefix(nearest_variable(name))) <= few_letters(word.size());
}

}  // namespace

std::string_view nearest_variable(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : options()) names.emplace_back(option.environment);
  return nearest(name, names);
}

VariableKind kind_of_variable(std::string_view name) {
  if (is_reserved(name)) return VariableKind::reserved;
  const auto all = options();
  if (std::any_of(all.begin(), all.end(), [&](const Option& option) { return name == option.environment; }))
    return VariableKind::option;
  return resembles_an_option(name) ? VariableKind::misspelt : VariableKind::unrelated;
}

Environment own_environment() {
  Environment environment;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos) environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

std::vector<std::string> unrelated_variables(const Environment& environment) {
  std::vector<std::string> found;
  for (auto at = environment.lower_bound(std::string(kVariables)); at != environment.end(); ++at) {
    if (!at->first.starts_with(kVariables)) break;
    if (kind_of_variable(at->first) == VariableKind::unrelated) found.push_back(at->first);
  }
  return found;
}

}  // namespace perdure::config
