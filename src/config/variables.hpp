#pragma once
// Variables of the environment that begin with PERDURE_: which are options, and which are other people's. Module files
// of clusters set PERDURE_ROOT, PERDURE_DIR and the like.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::config {

using Environment = std::map<std::string, std::string>;

enum class VariableKind {
  option,     ///< one of the table
  reserved,   ///< Perdure reads it elsewhere: PERDURE_CONFIG, PERDURE_TEST_*, ...
  misspelt,   ///< it resembles an option: whoever set it meant that one
  unrelated,  ///< it resembles none, and is left alone
};

/// Of a name that begins with PERDURE_. A name resembles an option when a few letters make it one (1 of up to 4
/// letters behind the prefix, 2 of up to 8, else 3), or when it begins with the word of a group of options: FLUSH,
/// TIER.
VariableKind kind_of_variable(std::string_view name);
/// The variable of an option that is spelt most alike.
std::string_view nearest_variable(std::string_view name);
/// The variables of this process.
Environment own_environment();
/// Names of those that begin with PERDURE_ and are left alone, ascending.
std::vector<std::string> unrelated_variables(const Environment& environment);

}  // namespace perdure::config
