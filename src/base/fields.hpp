#pragma once
// PERDURE_FIELDS(first, second) inside a structure names its fields once. The codec between processes of one release
// (base/field_codec.hpp) and its tests follow from it. `with_fields(call)` calls with all fields. It is a template, so
// that a unit pays only for the structures that it writes or reads.
#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>

#define PERDURE_FIELDS(...)                                                \
  static constexpr std::string_view field_names() { return #__VA_ARGS__; } \
  template <class Call>                                                    \
  auto with_fields(Call&& call) {                                          \
    return call(__VA_ARGS__);                                              \
  }                                                                        \
  template <class Call>                                                    \
  auto with_fields(Call&& call) const {                                    \
    return call(__VA_ARGS__);                                              \
  }

namespace perdure::base {

/// A structure whose fields have to fit together has `std::string wrong() const`, which returns the defect, or "".
/// Decoders never return a wrong value.
template <class T>
concept CanBeWrong = requires(const T& value) {
  { value.wrong() } -> std::same_as<std::string>;
};

/// Returns the name of field number `index` in `names`, which are separated by commas.
constexpr std::string_view field_name(std::string_view names, std::size_t index) {
  for (; index > 0; --index) names.remove_prefix(std::min(names.find(',') + 1, names.size()));
  names = names.substr(0, names.find(','));
  while (!names.empty() && names.front() == ' ') names.remove_prefix(1);
  return names;
}

}  // namespace perdure::base
