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

struct Option {
  const char* key;          ///< "tier.memory.max_bytes"
  Type type;
  const char* default_value;
  const char* unit;         ///< "bytes", "s", "bytes/s", "" ...
  const char* environment;  ///< "PERDURE_TIER_MEMORY_MAX_BYTES"
  const char* choices;      ///< for choice: "embedded|daemon"
  bool engine;              ///< true: part of the engine's fingerprint; a job with another value gets its own engine
  const char* documentation;
};

std::span<const Option> options();

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
  std::string text(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  std::uint64_t bytes(std::string_view key) const;
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  /// Hash over all options with `engine` set, 16 hexadecimal digits.
  std::string fingerprint() const;
  /// "key = value" lines that set() understands again; for handing a configuration to perdured.
  std::string serialise() const;

 private:
  std::map<std::string, Value, std::less<>> values_;
};

/// Defaults < `program` ("key=value" by newline or ';') < file (PERDURE_CONFIG, else ./perdure.toml if there) < environment
/// (PERDURE_*) < `command_line`. An unknown PERDURE_* variable is an error too, except PERDURE_CONFIG and those that `env` reserves (PERDURE_TEST_*).
base::Result<Config> load(std::string_view program, const std::vector<std::string>& command_line = {});
/// The same with the environment and working directory given; for tests.
base::Result<Config> load_from(std::string_view program, const std::map<std::string, std::string>& environment,
                               const std::string& directory, const std::vector<std::string>& command_line = {});

/// docs/configuration.md, whole.
std::string markdown();

}  // namespace perdure::config
