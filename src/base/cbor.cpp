#include "base/cbor.hpp"

#include "base/json.hpp"

namespace perdure::base {
namespace {

constexpr int kMaxDepth = 16;

// Walks the input without building anything, and stops where the limits are passed. The parser behind from_cbor
// recurses for every nested array: a few kilobytes of '[' would exhaust the stack.
class LimitCheck : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return item(); }
  bool boolean(bool) override { return item(); }
  bool number_integer(number_integer_t) override { return item(); }
  bool number_unsigned(number_unsigned_t) override { return item(); }
  bool number_float(number_float_t, const string_t&) override { return item(); }
  bool string(string_t&) override { return item(); }
  bool binary(binary_t&) override { return item(); }
  bool start_object(std::size_t) override { return open(); }
  bool key(string_t&) override { return item(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    what = error.what();
    return false;
  }
  std::string what = "nested too deeply or too many items";

 private:
  bool item() { return ++items_ <= kMaxCborItems; }
  bool open() { return ++depth_ <= kMaxDepth && item(); }
  bool close() {
    --depth_;
    return true;
  }
  int depth_ = 0;
  std::size_t items_ = 0;
};

tl::unexpected<Error> wrong(const char* key, const char* expected, const std::string& object) {
  return fail(PERDURE_CORRUPT, object, std::string("field '") + key + "' is missing or is not " + expected);
}

}  // namespace

std::vector<std::byte> encode_cbor(const Json& value) {
  std::vector<std::uint8_t> raw = Json::to_cbor(value);
  const auto* first = reinterpret_cast<const std::byte*>(raw.data());
  return {first, first + raw.size()};
}

Status check_cbor(ConstByteSpan data, const std::string& object) {
  if (data.size() <= kMaxCborItems) return {};  // an item has at least one byte
  const auto* first = reinterpret_cast<const std::uint8_t*>(data.data());
  LimitCheck check;
  if (Json::sax_parse(first, first + data.size(), &check, Json::input_format_t::cbor, true)) return {};
  return fail(PERDURE_INVALID_ARGUMENT, object,
              "it has more than the " + std::to_string(kMaxCborItems) + " items that readers take");
}

Result<Json> decode_cbor(ConstByteSpan data, const std::string& object) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(data.data());
  try {
    LimitCheck check;
    if (!Json::sax_parse(first, first + data.size(), &check, Json::input_format_t::cbor, true))
      return fail(PERDURE_CORRUPT, object, "not valid CBOR: " + check.what);
    Json value = Json::from_cbor(first, first + data.size(), true, false);
    if (value.is_discarded()) return fail(PERDURE_CORRUPT, object, "not valid CBOR");
    return value;
  } catch (const std::bad_alloc& refused) {  // refused memory says nothing about the data
    return fail(exception_error(refused, object));
  } catch (const std::exception& error) {
    return fail(PERDURE_CORRUPT, object, std::string("not valid CBOR: ") + error.what());
  }
}

Result<std::uint64_t> get_u64(const Json& map, const char* key, const std::string& object) {
  if (!map.is_object()) return wrong(key, "in a map", object);
  auto it = map.find(key);
  if (it == map.end() || !it->is_number_unsigned()) return wrong(key, "an unsigned number", object);
  return it->get<std::uint64_t>();
}

Result<std::uint32_t> get_u32(const Json& map, const char* key, const std::string& object) {
  auto value = get_u64(map, key, object);
  if (!value) return fail(value.error());
  if (*value > 0xffffffffULL) return fail(PERDURE_CORRUPT, object, std::string("field '") + key + "' is out of range");
  return static_cast<std::uint32_t>(*value);
}

Result<std::string> get_text(const Json& map, const char* key, const std::string& object) {
  if (!map.is_object()) return wrong(key, "in a map", object);
  auto it = map.find(key);
  if (it == map.end() || !it->is_string()) return wrong(key, "a text", object);
  return it->get<std::string>();
}

Result<bool> get_bool(const Json& map, const char* key, const std::string& object) {
  if (!map.is_object()) return wrong(key, "in a map", object);
  auto it = map.find(key);
  if (it == map.end() || !it->is_boolean()) return wrong(key, "true or false", object);
  return it->get<bool>();
}

Result<const Json*> get_array(const Json& map, const char* key, const std::string& object) {
  if (!map.is_object()) return wrong(key, "in a map", object);
  auto it = map.find(key);
  if (it == map.end() || !it->is_array()) return wrong(key, "an array", object);
  return &*it;
}

Json binary(ConstByteSpan bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  // If memory is refused, Json::binary() returns a value without bytes, whose destructor ends the program.
  return Json::binary_t(std::vector<std::uint8_t>(first, first + bytes.size()));
}

Result<std::vector<std::byte>> binary_of(const Json& value, std::size_t most, const std::string& where,
                                         const std::string& object) {
  if (!value.is_binary() || value.get_binary().size() > most)
    return fail(PERDURE_CORRUPT, object, where + " is not a byte string of at most " + std::to_string(most) + " bytes");
  const auto& raw = value.get_binary();
  const auto* first = reinterpret_cast<const std::byte*>(raw.data());
  return std::vector<std::byte>(first, first + raw.size());
}

}  // namespace perdure::base
