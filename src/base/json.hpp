#pragma once
// JSON values, complete. Only .cpp files and the few headers that hold a value include it: parsing nlohmann/json costs
// each unit more than most of our own headers together, which name base::Json only (base/cbor.hpp).
#include <nlohmann/json.hpp>

namespace perdure::base {

using Json = nlohmann::json;

}  // namespace perdure::base

// Instantiated once, in json.cpp.
extern template class nlohmann::basic_json<>;
