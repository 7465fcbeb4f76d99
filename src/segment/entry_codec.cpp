#include "segment/entry_codec.hpp"

#include <algorithm>
#include <limits>

#include "base/json.hpp"

namespace perdure::segment {
namespace {

using base::Json;
using base::Result;

constexpr auto kNewestKind = EntryKind::array;

bool is_key(const std::string& key) {
  return !key.empty() && key.size() <= kMaxAttributeKey && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

struct WriteValue {
  Json operator()(bool value) const { return value; }
  // Numbers that are not negative are written as unsigned, which is how a reader finds them.
  Json operator()(std::int64_t value) const {
    return value < 0 ? Json(value) : Json(static_cast<std::uint64_t>(value));
  }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(const std::vector<std::byte>& bytes) const { return base::binary(bytes); }
  Json operator()(const std::vector<std::int64_t>& numbers) const {
    Json list = Json::array();
    for (const std::int64_t number : numbers) list.push_back((*this)(number));
    return list;
  }
};

/// Returns "" if readers accept the value, else the defect.
struct FindFault {
  std::string operator()(bool) const { return {}; }
  std::string operator()(std::int64_t) const { return {}; }
  std::string operator()(const std::string& text) const { return bytes(text.size()); }
  std::string operator()(const std::vector<std::byte>& value) const { return bytes(value.size()); }
  std::string operator()(const std::vector<std::int64_t>& numbers) const {
    return numbers.size() <= kMaxAttributeItems ? ""
                                                : "has more than " + std::to_string(kMaxAttributeItems) + " numbers";
  }
  static std::string bytes(std::size_t size) {
    return size <= kMaxAttributeBytes ? "" : "has more than " + std::to_string(kMaxAttributeBytes) + " bytes";
  }
};

std::string fault_of(const Attributes& attributes) {
  if (attributes.size() > kMaxAttributes) return "has more than " + std::to_string(kMaxAttributes) + " attributes";
  for (const auto& [key, value] : attributes) {
    // The offending key may be long or unprintable: it is not repeated in the message.
    if (!is_key(key)) return "has an attribute whose name is not 1 to 64 of the characters a-z 0-9 . _ -";
    if (const std::string fault = std::visit(FindFault{}, value); !fault.empty()) {
      std::string text = "has an attribute '";
      text.append(key).append("' that ").append(fault);
      return text;
    }
  }
  return {};
}

bool is_integer(const Json& json) {
  if (json.is_number_unsigned())
    return json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return json.is_number_integer();
}

/// Returns nothing if an attribute cannot have this type.
std::optional<AttributeValue> value_from_json(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (is_integer(json)) return json.get<std::int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_binary()) {
    const auto& raw = json.get_binary();
    const auto* first = reinterpret_cast<const std::byte*>(raw.data());
    return std::vector<std::byte>(first, first + raw.size());
  }
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), is_integer)) return std::nullopt;
  return json.get<std::vector<std::int64_t>>();
}

}  // namespace

Json to_json(const Attributes& attributes) {
  Json map = Json::object();
  for (const auto& [key, value] : attributes) map[key] = std::visit(WriteValue{}, value);
  return map;
}

Result<EntryKind> entry_kind_from_json(const Json& json, const std::string& where, const std::string& object) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
    return base::fail(PERDURE_CORRUPT, object, where + " has a kind that is not a number below 2^32");
  const auto kind = json.get<std::uint32_t>();
  if (kind > static_cast<std::uint32_t>(kNewestKind))
    return base::fail(PERDURE_UNSUPPORTED, object,
                      where + " is of kind " + std::to_string(kind) +
                          ", which this Perdure does not know (it knows kinds up to " +
                          std::to_string(static_cast<std::uint32_t>(kNewestKind)) + ")",
                      "read it with the Perdure that wrote it, or a newer one");
  return static_cast<EntryKind>(kind);
}

Result<Attributes> attributes_from_json(const Json& json, const std::string& where, const std::string& object) {
  if (!json.is_object() || json.size() > kMaxAttributes)
    return base::fail(PERDURE_CORRUPT, object,
                      where + " has attributes that are not a map of at most " + std::to_string(kMaxAttributes));
  Attributes::Map attributes;
  for (const auto& item : json.items()) {
    auto value = value_from_json(item.value());
    if (!value)
      return base::fail(
          PERDURE_CORRUPT, object,
          where + " has an attribute that is no truth value, integer, text, byte string or array of integers");
    attributes.emplace(item.key(), std::move(*value));
  }
  Attributes read(std::move(attributes));
  if (const std::string fault = fault_of(read); !fault.empty())
    return base::fail(PERDURE_CORRUPT, object, where + " " + fault);
  return read;
}

base::Status check_attributes(const RegionEntry& entry) {
  if (const std::string fault = fault_of(entry.attributes); !fault.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, "entry " + std::to_string(entry.id), "it " + fault);
  return {};
}

}  // namespace perdure::segment
