#pragma once
// One table of options (options.cpp) feeds the API, the environment, files, the command line and docs/configuration.md.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::config {

enum class Type { text, boolean, integer, real, bytes, choice };

/// One row of the table. `minimum`, `maximum` and `multiple_of` are for numbers and bytes; a bytes option with a
/// minimum above 0 refuses 0 too.
struct Option {
  const char* key = "";  ///< "tier.memory.max_bytes"
  Type type = Type::text;
  const char* default_value = "";
  const char* unit = "";         ///< "bytes", "s", "bytes/s", "" ...
  const char* environment = "";  ///< "PERDURE_TIER_MEMORY_MAX_BYTES"
  const char* choices = "";      ///< for choice: "embedded|daemon"
  bool engine = false;  ///< true: part of the engine's fingerprint; a job with another value gets its own engine
  const char* documentation = "";
  double minimum = 0;
  double maximum = 9e15;          ///< every integer up to here is exact in a double
  std::uint64_t multiple_of = 1;  ///< for integers and bytes
  /// What types and ranges cannot say: nullptr, or the reason why `value` is refused.
  const char* (*refuse)(std::string_view value) = nullptr;
};

std::span<const Option> options();
/// The row of `key`, or nullptr.
const Option* find_option(std::string_view key);

enum class Origin { default_value, program, file, environment, command_line };
const char* origin_name(Origin origin);

struct Value {
  std::string text;
  Origin origin = Origin::default_value;
  std::string source;  ///< file path, environment name; empty for defaults
};

/// Effective configuration: every option has a checked value. Copyable data.
class Config {
 public:
  Config();  ///< all defaults
  /// Checks key (an unknown one names the nearest known), type and range; later or equal origins win over earlier ones.
  base::Status set(std::string_view key, std::string_view value, Origin origin, std::string source = {});
  /// Many settings at once, as serialise() and the API write them: "key = value", separated by newlines or semicolons;
  /// a value with a semicolon stands in double quotes (with \" and \\ inside).
  base::Status set_all(std::string_view settings, Origin origin, const std::string& source = {});
  /// The accessors expect a key of the table and its type; for anything else they return an empty value.
  std::string text(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  std::uint64_t bytes(std::string_view key) const;
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  /// Hash over all options with `engine` set, 16 hexadecimal digits.
  std::string fingerprint() const;
  /// "key = value" lines that set_all() understands again; for handing a configuration to perdured.
  std::string serialise() const;

 private:
  std::map<std::string, Value, std::less<>> values_;
};

/// Defaults < `program` ("key=value" by newline or ';') < file (PERDURE_CONFIG, else ./perdure.toml if there) <
/// environment (PERDURE_*) < `command_line`. An unknown PERDURE_* variable is an error too; PERDURE_CONFIG and those
/// that begin with PERDURE_TEST_ or PERDURE_DEMO_ are not options.
base::Result<Config> load(std::string_view program, const std::vector<std::string>& command_line = {});
/// The same with the environment and working directory given; for tests.
base::Result<Config> load_from(std::string_view program, const std::map<std::string, std::string>& environment,
                               const std::string& directory, const std::vector<std::string>& command_line = {});

/// docs/configuration.md, whole.
std::string markdown();

}  // namespace perdure::config
