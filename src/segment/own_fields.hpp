#pragma once
// Finds the attributes of an entry that format 4 writes as fields of their own. Pure.
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

/// They are inside the entry; empty ones are none. Attributes of that name that mean something else stay attributes.
struct OwnFields {
  std::string_view name = {};  ///< a region's name
  std::string_view type = {};  ///< the type of an element, of element_bytes bytes
  std::size_t count() const { return (name.empty() ? 0U : 1U) + (type.empty() ? 0U : 1U); }
  bool has(std::string_view key) const { return (key == "name" && !name.empty()) || (key == "type" && !type.empty()); }
};
OwnFields own_fields(const RegionEntry& entry);

/// Puts fields that were read among the entry's attributes, where formats 2 and 3 have them. Returns the defect, or "".
std::string add_own_fields(RegionEntry& entry, const std::string& name, const std::string& type);

}  // namespace perdure::segment
