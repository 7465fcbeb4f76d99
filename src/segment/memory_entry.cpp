#include "segment/memory_entry.hpp"

#include <algorithm>

namespace perdure::segment {
namespace {

bool extents_are_of(const std::vector<std::uint64_t>& extents, std::uint64_t count) {
  if (extents.size() > kMostExtents) return false;
  std::uint64_t product = 1;
  for (const std::uint64_t extent : extents)
    if (__builtin_mul_overflow(product, extent, &product)) return false;
  return product == count;
}

template <class Value>
const Value* said_value(const RegionEntry& entry, const std::string& key) {
  const auto found = entry.attributes.map().find(key);
  return found == entry.attributes.end() ? nullptr : std::get_if<Value>(&found->second);
}

}  // namespace

base::Status check_elements(const Elements& elements, std::uint64_t element_bytes, std::uint64_t count,
                            const std::string& object) {
  if (elements.type && elements.type->bytes() != element_bytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      "its type " + elements.type->text() + " has " + std::to_string(elements.type->bytes()) +
                          " bytes, its elements have " + std::to_string(element_bytes),
                      "room between members is a member without a name, as in {id:i4,v4}");
  if (elements.extents && !extents_are_of(*elements.extents, count))
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      "its extents " + extents_text(*elements.extents) + " are not those of its " +
                          std::to_string(count) + " elements",
                      "give at most 8, whose product is the number of elements");
  return {};
}

Elements still_true(const Elements& elements, std::uint64_t element_bytes, std::uint64_t count) {
  Elements left = elements;
  if (left.type && left.type->bytes() != element_bytes) left.type.reset();
  if (left.extents && !extents_are_of(*left.extents, count)) left.extents.reset();
  return left;
}

Elements elements_of(const RegionEntry& entry) {
  Elements elements;
  if (entry.kind != EntryKind::memory) return elements;
  if (const auto* text = said_value<std::string>(entry, "type"))
    if (auto type = array::ElementType::parse(*text, "")) elements.type = std::move(*type);
  if (const auto* numbers = said_value<std::vector<std::int64_t>>(entry, "extents"))
    if (std::none_of(numbers->begin(), numbers->end(), [](std::int64_t n) { return n < 0; }))
      elements.extents.emplace(numbers->begin(), numbers->end());
  return still_true(elements, entry.element_bytes, entry.count);
}

void set_elements(RegionEntry& entry, const Elements& elements) {
  if (elements.type) entry.attributes["type"] = elements.type->text();
  if (elements.extents)
    entry.attributes["extents"] = std::vector<std::int64_t>(elements.extents->begin(), elements.extents->end());
}

std::string extents_text(const std::vector<std::uint64_t>& extents) {
  if (extents.empty()) return "scalar";
  std::string text;
  for (const std::uint64_t extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

bool is_mere_bytes(const array::ElementType& type) {
  return std::all_of(type.members().begin(), type.members().end(),
                     [](const array::Member& member) { return member.scalar.kind == array::ScalarKind::bytes; });
}

bool of_other_type(const Elements& a, const Elements& b) {
  return a.type && b.type && *a.type != *b.type && !is_mere_bytes(*a.type) && !is_mere_bytes(*b.type);
}

bool of_other_shape(const Elements& a, const Elements& b) { return a.extents && b.extents && *a.extents != *b.extents; }

}  // namespace perdure::segment
