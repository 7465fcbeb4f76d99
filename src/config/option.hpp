#pragma once
// An option is a row of the table in options.hpp.
#include <cstdint>
#include <string>
#include <string_view>

namespace perdure::config {

/// A list is names separated by commas, with or without blanks around them.
enum class Type { text, list, boolean, integer, real, bytes, choice };

/// One row of the table. `minimum`, `maximum` and `multiple_of` apply to numbers and bytes. A bytes option with a
/// minimum above 0 refuses 0, too.
struct Option {
  const char* key = "";  ///< "tier.memory.max_bytes"
  Type type = Type::text;
  const char* default_value = "";
  const char* unit = "";         ///< "bytes", "s", "bytes/s", "" ...
  const char* environment = "";  ///< "PERDURE_TIER_MEMORY_MAX_BYTES"
  const char* choices = "";      ///< for Type::choice: "embedded|daemon"
  /// Returns the choices from a family's registry as "a|b", in place of `choices`.
  std::string (*registered)() = nullptr;
  bool engine = false;  ///< part of the engine's fingerprint: a job with another value gets its own engine
  const char* documentation = "";
  double minimum = 0;
  double maximum = 9e15;          ///< every integer up to here is exact in a double
  std::uint64_t multiple_of = 1;  ///< for integers and bytes
  bool absolute = false;          ///< a path that is made absolute, so that engines elsewhere mean the same place
  /// Checks rules that type and range cannot express: nullptr, or the reason why `value` is refused.
  const char* (*refuse)(std::string_view value) = nullptr;
};

/// Returns the values that a choice may have: "a|b".
std::string choices_of(const Option& option);

}  // namespace perdure::config
