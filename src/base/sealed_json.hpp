#pragma once
// Writes and reads small JSON records that carry a check of their content.
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"

namespace perdure::base {

/// Returns the record as the content of a file, with a member "check": the XXH3 64-bit hash of the text without it.
/// `record` is an object without such a member. Bytes that are no UTF-8 become U+FFFD.
std::string seal(const Json& record);

/// Returns the record without "check". Fails with PERDURE_CORRUPT about `object` unless `content` is a JSON object with
/// the right check. Records of earlier releases have no check, and are accepted.
Result<Json> unseal(const std::string& content, const std::string& object);

}  // namespace perdure::base
