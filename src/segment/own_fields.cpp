#include "segment/own_fields.hpp"

#include "array/element_type.hpp"
#include "segment/array_entry.hpp"

namespace perdure::segment {
namespace {

bool is_type_of(std::string_view text, const RegionEntry& entry) {
  if (entry.kind == EntryKind::opaque) return false;  // only its source knows what its attributes mean
  const auto type = array::ElementType::parse(text, "");
  return type && type->bytes() == entry.element_bytes;
}

}  // namespace

OwnFields own_fields(const RegionEntry& entry) {
  OwnFields fields{name_of(entry)};
  const auto type = entry.attributes.map().find("type");
  if (type == entry.attributes.end()) return fields;
  const auto* text = std::get_if<std::string>(&type->second);
  if (text != nullptr && is_type_of(*text, entry)) fields.type = *text;
  return fields;
}

std::string add_own_fields(RegionEntry& entry, const std::string& name, const std::string& type) {
  if (!name.empty() && !is_region_name(name)) return "has a name that is not 1 to 64 of A-Z a-z 0-9 . _ -";
  if (!type.empty() && !is_type_of(type, entry)) return "has an element type that is none, or of another size";
  for (const auto& [key, text] : {std::pair("name", name), std::pair("type", type)}) {
    if (text.empty()) continue;
    if (entry.attributes.map().contains(key)) return std::string("has its ") + key + " twice";
    entry.attributes[key] = text;
  }
  return {};
}

}  // namespace perdure::segment
