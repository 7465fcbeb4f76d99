#pragma once
// Tells PERDURE_ variables of the environment that are options from others. Module files of clusters set PERDURE_ROOT,
// PERDURE_DIR and the like.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::config {

using Environment = std::map<std::string, std::string>;

enum class VariableKind {
  option,     ///< an option of the table
  reserved,   ///< Perdure reads it elsewhere: PERDURE_CONFIG, PERDURE_TEST_*, ...
  misspelt,   ///< it resembles an option, and was probably meant as that
  unrelated,  ///< it resembles none, and is ignored
};

/// Classifies a name that begins with PERDURE_. It resembles an option if a few changed letters make it one. These are
/// 1 of up to 4 letters behind the prefix, 2 of up to 8, else 3. It also does if it begins with the word of a group of
/// options: FLUSH, TIER.
VariableKind kind_of_variable(std::string_view name);
/// Returns the variable of the option with the most similar spelling.
std::string_view nearest_variable(std::string_view name);
/// Returns the variables of this process.
Environment own_environment();
/// Returns the names of ignored variables that begin with PERDURE_, ascending.
std::vector<std::string> unrelated_variables(const Environment& environment);

}  // namespace perdure::config
