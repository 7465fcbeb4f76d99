#pragma once
// Makes JSON values complete. Only .cpp files and the few headers that hold a value include it. Parsing nlohmann/json
// costs each unit more than most of our own headers together, which name base::Json only (base/cbor.hpp).
#include <nlohmann/json.hpp>

namespace perdure::base {

using Json = nlohmann::json;

}  // namespace perdure::base

// The destructor of a value must not allocate: where memory is refused, it would end the application. The library's own
// puts the parts of a value on a stack that it allocates. Ours, in json.cpp, takes them apart in place. By this line
// clang has instantiated the library's own and refuses another; clang builds keep that.
#if defined(__GNUC__) && !defined(__clang__)
#define PERDURE_JSON_GOES_WITHOUT_MEMORY 1
template <>
void nlohmann::basic_json<>::json_value::destroy(nlohmann::detail::value_t type);
#endif

// json.cpp has the only instantiation.
extern template class nlohmann::basic_json<>;
