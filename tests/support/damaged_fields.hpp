#pragma once
// Damages one field of a decoded message or record in every way: removes it, or gives it any other type.
#include <functional>
#include <string>

#include "base/cbor.hpp"
#include "base/json.hpp"

namespace perdure::test_support {

/// Calls `use(damaged, key, nested)` for every field of the map `good` and of the maps in it. `nested`: the field
/// itself holds a map, so that an error may name a field in it.
inline void for_each_damaged_field(const base::Json& good,
                                   const std::function<void(const base::Json&, const std::string&, bool)>& use) {
  const base::Json others[] = {nullptr,
                               true,
                               std::uint64_t{7},
                               -7,
                               1.5,
                               "text",
                               base::Json::array({"text"}),
                               base::Json::object(),
                               base::Json::binary({1, 2})};
  for (const auto& item : good.items()) {
    const std::string& key = item.key();
    const base::Json& value = item.value();
    base::Json damaged = good;
    damaged.erase(key);
    use(damaged, key, value.is_object());
    for (const base::Json& other : others) {
      if (other.type() == value.type()) continue;
      damaged[key] = other;
      use(damaged, key, value.is_object());
    }
    if (!value.is_object()) continue;
    for_each_damaged_field(value, [&](const base::Json& inner, const std::string& inner_key, bool nested) {
      damaged[key] = inner;
      use(damaged, inner_key, nested);
    });
  }
}

}  // namespace perdure::test_support
