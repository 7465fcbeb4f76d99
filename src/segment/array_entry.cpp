#include "segment/array_entry.hpp"

#include <algorithm>
#include <limits>

#include "array/box_code.hpp"

namespace perdure::segment {
namespace {

constexpr std::size_t kMostName = 64, kMostUnit = 64, kMostDescription = 1024;
constexpr std::size_t kMostBoxParts = 48;  // of the 64 attributes that an entry may have

bool printable(const std::string& text, std::size_t most) {
  return text.size() <= most &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
}

template <class Value>
const Value* find(const Attributes& attributes, const std::string& key) {
  const auto found = attributes.map().find(key);
  return found == attributes.end() ? nullptr : std::get_if<Value>(&found->second);
}

std::string text_of(const Attributes& attributes, const std::string& key) {
  const auto* text = find<std::string>(attributes, key);
  return text == nullptr ? "" : *text;
}

base::Result<array::Box> whole_of(const RegionEntry& entry, std::uint64_t element_bytes, const std::string& object) {
  const auto* numbers = find<std::vector<std::int64_t>>(entry.attributes, "extents");
  if (numbers == nullptr || std::any_of(numbers->begin(), numbers->end(), [](std::int64_t n) { return n < 0; }))
    return base::fail(PERDURE_CORRUPT, object, region_text(entry) + " has no extents");
  auto whole = array::whole(std::vector<std::uint64_t>(numbers->begin(), numbers->end()), element_bytes, object);
  if (!whole) return base::fail(PERDURE_CORRUPT, object, region_text(entry) + ": " + whole.error().cause);
  return whole;
}

}  // namespace

bool is_region_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto other = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= kMostName && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || other(c); });
}

base::Status check_label(const Label& label, const std::string& object) {
  if (!label.name.empty() && !is_region_name(label.name))
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "its name is none",
                      "names have 1 to 64 of the characters A-Z a-z 0-9 . _ -, beginning with a letter");
  if (!printable(label.unit, kMostUnit) || !printable(label.description, kMostDescription))
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "its unit or description is none",
                      "a unit has at most 64 bytes, a description at most 1024, without control characters");
  return {};
}

Label label_of(const RegionEntry& entry) {
  Label label{text_of(entry.attributes, "name"), text_of(entry.attributes, "unit"),
              text_of(entry.attributes, "description")};
  if (!is_region_name(label.name)) label.name.clear();
  if (!printable(label.unit, kMostUnit)) label.unit.clear();
  if (!printable(label.description, kMostDescription)) label.description.clear();
  return label;
}

std::string_view name_of(const RegionEntry& entry) {
  const auto* name = find<std::string>(entry.attributes, "name");
  return name != nullptr && is_region_name(*name) ? std::string_view(*name) : std::string_view();
}

void set_label(RegionEntry& entry, const Label& label) {
  if (!label.name.empty()) entry.attributes["name"] = label.name;
  if (!label.unit.empty()) entry.attributes["unit"] = label.unit;
  if (!label.description.empty()) entry.attributes["description"] = label.description;
}

std::string region_text(std::int32_t id, const Label& label) {
  const std::string number = "region " + std::to_string(id);
  return label.name.empty() ? number : number + " '" + label.name + "'";
}

std::string region_text(const RegionEntry& entry) { return region_text(entry.id, label_of(entry)); }

std::uint64_t ArrayEntry::elements() const {
  std::uint64_t sum = 0;
  for (const auto& box : boxes) sum += box.elements();
  return sum;
}

base::Result<RegionEntry> entry_of(std::int32_t id, const ArrayEntry& array) {
  RegionEntry entry{id, array.type.bytes(), array.elements(), EntryKind::array, {}};
  set_label(entry, array.label);
  entry.attributes["type"] = array.type.text();
  entry.attributes["array"] = static_cast<std::int64_t>(array.kind);
  const auto* ends = array.whole.end.data();
  entry.attributes["extents"] = std::vector<std::int64_t>(ends, ends + array.whole.dimensions);
  const auto bytes = array::encode_boxes(array.boxes);
  if (bytes.size() > kMostBoxParts * kMaxAttributeBytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, region_text(id, array.label),
                      "its " + std::to_string(array.boxes.size()) + " boxes on this rank take " +
                          std::to_string(bytes.size()) + " bytes to describe, of " +
                          std::to_string(kMostBoxParts * kMaxAttributeBytes),
                      "join boxes that lie side by side, or list those of a regular grid in its order");
  for (std::size_t begin = 0, part = 0; begin < bytes.size(); begin += kMaxAttributeBytes, ++part) {
    const auto end = std::min(begin + kMaxAttributeBytes, bytes.size());
    entry.attributes["boxes." + std::to_string(part)] = std::vector<std::byte>(
        bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return entry;
}

std::vector<std::byte> boxes_in(const RegionEntry& entry) {
  std::vector<std::byte> bytes;
  for (std::size_t part = 0; part < kMaxAttributes; ++part) {
    const auto* more = find<std::vector<std::byte>>(entry.attributes, "boxes." + std::to_string(part));
    if (more == nullptr) break;
    bytes.insert(bytes.end(), more->begin(), more->end());
  }
  return bytes;
}

base::Result<ArrayEntry> array_of(const RegionEntry& entry, const std::string& object) {
  const auto corrupt = [&](const std::string& what) {
    return base::fail(PERDURE_CORRUPT, object, region_text(entry) + " " + what);
  };
  if (entry.kind != EntryKind::array) return corrupt("is no part of an array");
  ArrayEntry array{label_of(entry), {}, ArrayKind::global, {}, {}};
  auto type = array::ElementType::parse(text_of(entry.attributes, "type"), object);
  if (!type || type->bytes() != entry.element_bytes)
    return corrupt("has an element type that is none, or of another size");
  array.type = std::move(*type);
  const auto* kind = find<std::int64_t>(entry.attributes, "array");
  if (kind == nullptr || *kind < 0) return corrupt("does not say what kind of array it is");
  if (*kind > static_cast<std::int64_t>(greatest(ArrayKind{})))
    return base::fail(
        PERDURE_UNSUPPORTED, object,
        region_text(entry) + " is an array of kind " + std::to_string(*kind) + ", which this Perdure does not know",
        "read it with the Perdure that wrote it, or a newer one");
  array.kind = static_cast<ArrayKind>(*kind);
  PERDURE_TRY(array.whole, whole_of(entry, entry.element_bytes, object));
  const auto bytes = boxes_in(entry);
  // No box is empty: more boxes than the entry has elements are refused unread.
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(array::kMostBoxes, entry.count));
  PERDURE_TRY(array.boxes, array::decode_boxes(bytes, array.whole, most, object));
  std::uint64_t elements = 0;  // each box is inside of the array; together they may have more
  for (const auto& box : array.boxes)
    if (__builtin_add_overflow(elements, box.elements(), &elements))
      return corrupt("has more elements than it can have");
  if (elements != entry.count) return corrupt("has boxes of another number of elements");
  return array;
}

}  // namespace perdure::segment
