#pragma once
// One table of options (options.hpp) feeds the API, the environment, files, the command line and docs/configuration.md.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/key.hpp"

namespace perdure::config {

/// Returns all rows of the table (options.hpp).
std::span<const Option> options();

enum class Origin { default_value, program, file, environment, command_line };
const char* origin_name(Origin origin);

struct Value {
  std::string text;
  Origin origin = Origin::default_value;
  std::string source;  ///< file path or name of a variable; empty for defaults
};

/// The effective configuration: every option has a checked value. Copyable data.
class Config {
 public:
  Config();  ///< all defaults
  /// Sets one option, and checks key, type and range; the error for an unknown key names the nearest known one. A later
  /// or equal origin overrides an earlier one.
  base::Status set(std::string_view key, std::string_view value, Origin origin, std::string source = {});
  /// Sets many options, in the form of serialise() and the API: "key = value", separated by newlines or semicolons. A
  /// value with a semicolon stands in double quotes (with \" and \\ inside).
  base::Status set_all(std::string_view settings, Origin origin, const std::string& source = {});
  /// The accessors take keys of the table with their type; any other key does not compile.
  std::string text(Key<Type::text, Type::choice> key) const;
  /// Returns the items in their order, without the blanks around them, and without empty ones.
  std::vector<std::string> list(Key<Type::list> key) const;
  bool boolean(Key<Type::boolean> key) const;
  std::int64_t integer(Key<Type::integer> key) const;
  double real(Key<Type::real> key) const;
  std::uint64_t bytes(Key<Type::bytes> key) const;
  /// Returns an option of any type as it was written, and its origin.
  const Value& value(AnyKey key) const;
  /// Returns the options whose keys begin with `prefix`, without it: for a family whose members have options of their
  /// own.
  std::map<std::string, std::string> below(std::string_view prefix) const;
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  /// Returns a hash over all options with `engine` set, 16 hexadecimal digits.
  std::string fingerprint() const;
  /// Returns "key = value" lines for set_all(), to hand a configuration to perdured.
  std::string serialise() const;

 private:
  const Value& value_of(const Option& option) const;

  std::map<std::string, Value, std::less<>> values_;
};

/// Merges, in ascending precedence: defaults, `program` ("key=value" by newline or ';'), file (PERDURE_CONFIG, else
/// ./perdure.toml if there), environment (PERDURE_*), `command_line`. A PERDURE_* variable that resembles an option is
/// an error. Others are ignored (variables.hpp).
base::Result<Config> load(std::string_view program, const std::vector<std::string>& command_line = {});
/// Does the same with the given environment and working directory; for tests.
base::Result<Config> load_from(std::string_view program, const std::map<std::string, std::string>& environment,
                               const std::string& directory, const std::vector<std::string>& command_line = {});

/// Returns docs/configuration.md, whole.
std::string markdown();

}  // namespace perdure::config
