#pragma once
// Encodes structures with field lists (base/fields.hpp) for messages between processes of one release. Fields come in
// the order of the list, and numbers are little-endian. A 32-bit count precedes each field of variable length. Files
// that describe themselves use CBOR instead (base/cbor.hpp).
//
// Fields may be numbers, bools, enums, strings, byte strings, arrays, vectors, optionals, pairs, maps, variants,
// Results and structures of those. An enum names its last value: `constexpr E greatest(E) { return E::last; }`.
//
// The reader takes any bytes and refuses:
// - input that ends early; lengths and counts larger than the bytes that follow
// - more than 4 Mi items; nesting deeper than 16
// - values that no enum, bool or variant has; keys of maps that do not ascend
// - structures that report themselves as wrong
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "base/fields.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"

namespace perdure::base {

/// The last value of an enum. Values begin at 0 and leave none out.
template <class E>
inline constexpr E kGreatest = greatest(E{});

namespace field_codec {

template <class T>
struct Is {
  static constexpr bool vector = false, optional = false, pair = false, map = false, variant = false, array = false,
                        result = false;
};
template <class T>
struct Is<std::vector<T>> : Is<void> {
  static constexpr bool vector = true;
};
template <class T>
struct Is<std::optional<T>> : Is<void> {
  static constexpr bool optional = true;
};
template <class A, class B>
struct Is<std::pair<A, B>> : Is<void> {
  static constexpr bool pair = true;
};
template <class K, class V>
struct Is<std::map<K, V>> : Is<void> {
  static constexpr bool map = true;
};
template <class... T>
struct Is<std::variant<T...>> : Is<void> {
  static constexpr bool variant = true;
};
template <class T, std::size_t N>
struct Is<std::array<T, N>> : Is<void> {
  static constexpr bool array = true;
};
template <class T>
struct Is<Result<T>> : Is<void> {
  static constexpr bool result = true;
};

template <class T>
concept Number = std::integral<T> && !std::same_as<T, bool>;

/// Raw bytes: a vector, or a view that points into the decoded input.
template <class T>
concept ByteString = std::same_as<T, std::vector<std::byte>> || std::same_as<T, ConstByteSpan>;

/// A class around a map: it is written as the map, and constructed from one.
template <class T>
concept AroundMap = requires(const T& value) {
  typename T::Map;
  { value.map() } -> std::same_as<const typename T::Map&>;
};

/// Calls `call` with all fields of `value`.
template <class T, class Call>
auto with_fields_of(T& value, Call&& call) {
  if constexpr (std::same_as<std::remove_const_t<T>, Error>)
    return call(value.code, value.object, value.cause, value.remedy, value.retryable);
  else if constexpr (std::same_as<std::remove_const_t<T>, Hash128>)
    return call(value.low, value.high);
  else
    return value.with_fields(call);
}

template <class T>
constexpr std::string_view names_of() {
  if constexpr (std::same_as<T, Error>)
    return "code, object, cause, remedy, retryable";
  else if constexpr (std::same_as<T, Hash128>)
    return "low, high";
  else
    return T::field_names();
}

template <class T>
constexpr std::size_t least_bytes();
/// Returns the fewest bytes of all fields together, as a type. It does not look at their values.
struct BytesOfFields {
  template <class... Field>
  auto operator()(Field&...) const
      -> std::integral_constant<std::size_t, (std::size_t{0} + ... + least_bytes<Field>())> {
    return {};
  }
};

/// The smallest encoding of any value of T, in bytes.
template <class T>
constexpr std::size_t least_bytes() {
  if constexpr (Number<T>) {
    return sizeof(T);
  } else if constexpr (std::same_as<T, double>) {
    return 8;
  } else if constexpr (std::same_as<T, bool> || std::is_enum_v<T> || Is<T>::optional || Is<T>::variant ||
                       Is<T>::result) {
    return 1;
  } else if constexpr (std::same_as<T, std::string> || ByteString<T> || Is<T>::vector || Is<T>::map || AroundMap<T>) {
    return 4;
  } else if constexpr (Is<T>::array) {
    return std::tuple_size_v<T> * least_bytes<typename T::value_type>();
  } else if constexpr (Is<T>::pair) {
    return least_bytes<typename T::first_type>() + least_bytes<typename T::second_type>();
  } else {
    return decltype(with_fields_of(std::declval<T&>(), BytesOfFields{}))::value;
  }
}

}  // namespace field_codec

/// Appends encoded values to bytes.
class FieldWriter {
 public:
  explicit FieldWriter(std::vector<std::byte>& out) : out_(out) {}

  template <class T>
  void write(const T& value) {
    using namespace field_codec;
    if constexpr (Number<T>) {
      number(static_cast<std::make_unsigned_t<T>>(value));
    } else if constexpr (std::same_as<T, bool>) {
      number(static_cast<std::uint8_t>(value));
    } else if constexpr (std::same_as<T, double>) {
      number(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
      number(static_cast<std::uint8_t>(value));
    } else if constexpr (std::same_as<T, std::string>) {
      sized(as_bytes(value));
    } else if constexpr (ByteString<T>) {
      sized(value);
    } else if constexpr (Is<T>::array) {
      for (const auto& item : value) write(item);
    } else if constexpr (Is<T>::vector || Is<T>::map) {
      number(static_cast<std::uint32_t>(value.size()));
      for (const auto& item : value) write(item);
    } else if constexpr (AroundMap<T>) {
      write(value.map());
    } else if constexpr (Is<T>::pair) {
      write(value.first);
      write(value.second);
    } else if constexpr (Is<T>::optional) {
      write(value.has_value());
      if (value) write(*value);
    } else if constexpr (Is<T>::variant) {
      static_assert(std::variant_size_v<T> <= 256);
      number(static_cast<std::uint8_t>(value.index()));
      std::visit([&](const auto& content) { write(content); }, value);
    } else if constexpr (Is<T>::result) {
      write(!value.has_value());
      if (!value) return write(value.error());
      if constexpr (!std::is_void_v<typename T::value_type>) write(*value);
    } else {
      with_fields_of(value, [&](const auto&... field) { (write(field), ...); });
    }
  }

 private:
  template <class Unsigned>
  void number(Unsigned value) {
    std::array<std::byte, sizeof(Unsigned)> raw;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
      raw[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
    out_.insert(out_.end(), raw.begin(), raw.end());
  }
  void sized(ConstByteSpan bytes) {
    number(static_cast<std::uint32_t>(bytes.size()));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  std::vector<std::byte>& out_;
};

/// Takes values from bytes. After the first error it reads no more, and values read before mean nothing.
class FieldReader {
 public:
  static constexpr std::uint32_t kMostItems = 4U << 20;
  static constexpr unsigned kMostNested = 16;

  explicit FieldReader(ConstByteSpan bytes) : rest_(bytes) {}
  bool good() const { return cause_.empty(); }
  std::size_t left() const { return rest_.size(); }
  /// Returns PERDURE_CORRUPT about `object` unless all values were good and no byte is left.
  Status end(std::string_view object) const {
    if (!good())
      return fail(PERDURE_CORRUPT, std::string(object), (field_.empty() ? "" : "field '" + field_ + "': ") + cause_);
    if (!rest_.empty()) return fail(PERDURE_CORRUPT, std::string(object), "it goes on after its end");
    return {};
  }

  template <class T>
  void read(T& value) {
    using namespace field_codec;
    if constexpr (Number<T>) {
      value = static_cast<T>(number<std::make_unsigned_t<T>>());
    } else if constexpr (std::same_as<T, bool>) {
      value = choice(1, "it is neither true nor false") != 0;
    } else if constexpr (std::same_as<T, double>) {
      value = std::bit_cast<double>(number<std::uint64_t>());
    } else if constexpr (std::same_as<T, ErrorCode>) {
      const unsigned code = number<std::uint8_t>();  // a code of a later release is an error, too
      value = code <= kLastErrorCode ? static_cast<ErrorCode>(code) : PERDURE_INTERNAL;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(choice(static_cast<unsigned>(kGreatest<T>), "it is a value that there is not"));
    } else if constexpr (std::same_as<T, std::string>) {
      const ConstByteSpan raw = take(number<std::uint32_t>());
      value.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
    } else if constexpr (std::same_as<T, ConstByteSpan>) {
      value = take(number<std::uint32_t>());
    } else if constexpr (ByteString<T>) {
      const ConstByteSpan raw = take(number<std::uint32_t>());
      value.assign(raw.begin(), raw.end());
    } else if constexpr (Is<T>::array) {
      for (auto& item : value) read(item);
    } else if constexpr (Is<T>::vector) {
      const std::uint32_t count = items(least_bytes<typename T::value_type>());
      value.clear();
      value.reserve(std::min<std::uint32_t>(count, kReserved));
      for (std::uint32_t i = 0; i < count && good(); ++i) read(value.emplace_back());
    } else if constexpr (Is<T>::map) {
      read_map(value);
    } else if constexpr (AroundMap<T>) {
      typename T::Map map;
      read_map(map);
      value = T(std::move(map));
    } else if constexpr (Is<T>::pair) {
      read(value.first);
      read(value.second);
    } else if constexpr (Is<T>::optional) {
      value.reset();
      bool there = false;
      read(there);
      if (there && good()) read(value.emplace());
    } else if constexpr (Is<T>::variant) {
      const unsigned index = choice(std::variant_size_v<T> - 1, "it is a kind that there is not");
      if (good()) read_alternative<0>(value, index);
    } else if constexpr (Is<T>::result) {
      read_result(value);
    } else {
      read_fields(value);
    }
  }

 private:
  static constexpr std::uint32_t kReserved = 4096;  // items may be larger than what they are read from

  template <class Unsigned>
  Unsigned number() {
    const ConstByteSpan raw = take(sizeof(Unsigned));
    std::uint64_t value = 0;
    for (std::size_t i = raw.size(); i > 0; --i) value = value << 8 | std::to_integer<std::uint64_t>(raw[i - 1]);
    return static_cast<Unsigned>(value);
  }
  /// Reads a number of at most `most`; a larger one is the error `otherwise`.
  unsigned choice(unsigned most, const char* otherwise) {
    const unsigned value = number<std::uint8_t>();
    if (good() && value > most) cause_ = otherwise;
    return good() ? value : 0;
  }
  /// Reads a count of items, each of at least `least` bytes, and refuses more than can follow.
  std::uint32_t items(std::size_t least) {
    const auto count = number<std::uint32_t>();
    if (!good()) return 0;
    if (count > rest_.size() / std::max<std::size_t>(least, 1))
      cause_ = "it has more items than bytes follow";
    else if (count > kMostItems - items_)
      cause_ = "it has too many items";
    else
      items_ += count;
    return good() ? count : 0;
  }
  ConstByteSpan take(std::size_t bytes) {
    if (good() && bytes > rest_.size()) cause_ = "it ends too early";
    if (!good()) return {};
    const ConstByteSpan taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  template <class K, class V>
  void read_map(std::map<K, V>& map) {
    const std::uint32_t count = items(field_codec::least_bytes<K>() + field_codec::least_bytes<V>());
    map.clear();
    for (std::uint32_t i = 0; i < count && good(); ++i) {
      K key{};
      read(key);
      if (good() && !map.empty() && !(map.rbegin()->first < key)) cause_ = "it has keys that do not ascend";
      if (good()) read(map.emplace_hint(map.end(), std::move(key), V{})->second);
    }
  }
  template <std::size_t I, class Variant>
  void read_alternative(Variant& value, std::size_t index) {
    if constexpr (I < std::variant_size_v<Variant>) {
      if (index == I)
        read(value.template emplace<I>());
      else
        read_alternative<I + 1>(value, index);
    }
  }
  template <class T>
  void read_result(Result<T>& value) {
    bool failed = false;
    read(failed);
    if (failed) {
      Error error;
      read(error);
      if (error.code == PERDURE_OK) error.code = PERDURE_INTERNAL;
      value = fail(std::move(error));
    } else if constexpr (std::is_void_v<T>) {
      value = Result<T>();
    } else {
      T content{};
      read(content);
      value = std::move(content);
    }
  }
  template <class T>
  void read_fields(T& value) {
    if (nested_ == kMostNested && good()) cause_ = "it is nested too deeply";
    if (!good()) return;
    ++nested_;
    std::size_t index = 0;
    const auto one = [&](auto& field) {
      read(field);
      if (!good()) return false;
      ++index;
      return true;
    };
    const bool all = field_codec::with_fields_of(value, [&](auto&... field) { return (true && ... && one(field)); });
    --nested_;
    if (!all) return name_field(field_name(field_codec::names_of<T>(), index));
    if constexpr (CanBeWrong<T>) cause_ = value.wrong();
  }
  void name_field(std::string_view name) {
    field_ = field_.empty() ? std::string(name) : std::string(name) + "." + field_;
  }

  ConstByteSpan rest_;
  std::string cause_, field_;  // of the first error
  std::uint32_t items_ = 0;
  unsigned nested_ = 0;
};

template <class T>
void append_fields(std::vector<std::byte>& out, const T& value) {
  FieldWriter(out).write(value);
}

template <class T>
std::vector<std::byte> encode_fields(const T& value) {
  std::vector<std::byte> out;
  append_fields(out, value);
  return out;
}

/// Decodes one value; PERDURE_CORRUPT about `object` unless the bytes are exactly that value.
template <class T>
Result<T> decode_fields(ConstByteSpan bytes, std::string_view object) {
  FieldReader reader(bytes);
  T value{};
  reader.read(value);
  PERDURE_CHECK(reader.end(object));
  return value;
}

}  // namespace perdure::base
