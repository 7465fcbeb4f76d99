#pragma once
// Small records of JSON that say whether they are as they were written.
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"

namespace perdure::base {

/// The record as the content of a file, with a member "check": the XXH3 64-bit hash of the text without it. `record` is
/// an object without such a member. Bytes that are no UTF-8 become U+FFFD.
std::string seal(const Json& record);

/// Back, without "check". PERDURE_CORRUPT names `object`: it is no JSON object, or its check is another one. Records of
/// earlier releases have no check, and are taken as they are.
Result<Json> unseal(const std::string& content, const std::string& object);

}  // namespace perdure::base
