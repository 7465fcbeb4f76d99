#pragma once
// JSON values, complete. Only .cpp files and the few headers that hold a value include it: parsing nlohmann/json costs
// each unit more than most of our own headers together, which name base::Json only (base/cbor.hpp).
#include <nlohmann/json.hpp>

namespace perdure::base {

using Json = nlohmann::json;

}  // namespace perdure::base

// A value that goes must ask for no memory: where that is refused, its destructor would end the application. The
// library's own puts the parts of a value on a stack that it allocates; this one, in json.cpp, takes them apart in
// place. clang has instantiated the library's own by here, and refuses another: what is built with it keeps that.
#if defined(__GNUC__) && !defined(__clang__)
#define PERDURE_JSON_GOES_WITHOUT_MEMORY 1
template <>
void nlohmann::basic_json<>::json_value::destroy(nlohmann::detail::value_t type);
#endif

// Instantiated once, in json.cpp.
extern template class nlohmann::basic_json<>;
