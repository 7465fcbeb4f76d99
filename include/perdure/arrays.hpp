/// @file
/// This header describes arrays that ranks have together, for C++17 and later. perdure.hpp includes it and hands them
/// to its Handle. It has types of elements, the array as a whole, views of memory, and boxes of elements that a rank
/// owns.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "perdure/perdure.h"

namespace perdure {

/// The type of an element T, as a text (perdure.h defines the texts). Specialise it for structures:
///
///     template <>
///     struct perdure::ElementType<Body> {
///       static constexpr const char* text = "{position:3f8,velocity:3f8,mass:f8}";
///     };
///
/// The compiler refuses a text that is not of sizeof(T) bytes; room between members is a member without a name ("v4").
/// For a T without specialisation, Array::type has to give the text.
template <class T, class = void>
struct ElementType {};

namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::size_t number_at(const char*& at) {
  std::size_t number = 0;
  while (is_digit(*at)) number = number * 10 + static_cast<std::size_t>(*at++ - '0');
  return number;
}

// The bytes of a scalar: its letter is followed by their number.
constexpr std::size_t scalar_bytes(const char*& at) {
  if (*at == '\0') return 0;
  ++at;
  return number_at(at);
}

// The bytes of a member: "name:3f8", or "v4".
constexpr std::size_t member_bytes(const char*& at) {
  const char* end = at;
  while (*end != ':' && *end != ',' && *end != '}' && *end != '\0') ++end;
  if (*end != ':') return scalar_bytes(at);
  at = end + 1;
  const std::size_t count = is_digit(*at) ? number_at(at) : 1;
  return count * scalar_bytes(at);
}

// The bytes of an element, for a text that the library takes. For others it is some number, and the library reports the
// error.
constexpr std::size_t type_bytes(const char* text) {
  if (*text != '{') return scalar_bytes(text);
  std::size_t bytes = 0;
  do bytes += member_bytes(++text);
  while (*text == ',');
  return bytes;
}

template <class T, std::size_t bytes = sizeof(T)>
constexpr const char* integer_text() {
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (bytes == 1) return is_signed ? "i1" : "u1";
  if constexpr (bytes == 2) return is_signed ? "i2" : "u2";
  if constexpr (bytes == 4) return is_signed ? "i4" : "u4";
  if constexpr (bytes == 8) return is_signed ? "i8" : "u8";
}

template <class T, class = void>
struct HasElementType : std::false_type {};
template <class T>
struct HasElementType<T, std::void_t<decltype(ElementType<T>::text)>> : std::true_type {};

template <class T>
constexpr void check_element() {
  static_assert(std::is_trivially_copyable_v<T>, "only trivially copyable elements can be protected");
  static_assert(!std::is_const_v<T>, "protected memory is written by restore: it must not be const");
  static_assert(!std::is_pointer_v<T>, "a pointer means nothing after a restart; protect what it points to");
}

}  // namespace detail

/// The type of integers of up to 8 bytes, and of characters.
template <class T>
struct ElementType<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8>> {
  static constexpr const char* text = detail::integer_text<T>();  ///< as in perdure.h
};
/// The type of an enumeration is that of its integer.
template <class T>
struct ElementType<T, std::enable_if_t<std::is_enum_v<T> && !std::is_same_v<T, std::byte> && sizeof(T) <= 8>> {
  static constexpr const char* text = detail::integer_text<std::underlying_type_t<T>>();  ///< as in perdure.h
};
/// The type of float.
template <>
struct ElementType<float> {
  static constexpr const char* text = "f4";  ///< as in perdure.h
};
/// The type of double.
template <>
struct ElementType<double> {
  static constexpr const char* text = "f8";  ///< as in perdure.h
};
/// The type of complex numbers of two floats.
template <>
struct ElementType<std::complex<float>> {
  static constexpr const char* text = "c8";  ///< as in perdure.h
};
/// The type of complex numbers of two doubles.
template <>
struct ElementType<std::complex<double>> {
  static constexpr const char* text = "c16";  ///< as in perdure.h
};
/// The type of truth values.
template <>
struct ElementType<bool> {
  static constexpr const char* text = "b1";  ///< as in perdure.h
};
/// The type of bytes.
template <>
struct ElementType<std::byte> {
  static constexpr const char* text = "v1";  ///< as in perdure.h
};

/// The text for elements of type T, as perdure.h has it: type_of<double>() is "f8".
template <class T>
constexpr const char* type_of() {
  using Plain = std::remove_cv_t<T>;
  static_assert(detail::HasElementType<Plain>::value, "specialise perdure::ElementType for this type");
  static_assert(detail::type_bytes(ElementType<Plain>::text) == sizeof(Plain),
                "the members of ElementType<T>::text have not the size of T; room between them is a member, too: v4");
  return ElementType<Plain>::text;
}

namespace detail {

// The text for memory of type T. It is empty if T is a structure without ElementType. It is empty for characters, too:
// they have a sign on some machines only.
template <class T>
constexpr const char* memory_type() {
  using Plain = std::remove_cv_t<T>;
  if constexpr (HasElementType<Plain>::value && !std::is_same_v<Plain, char>)
    return type_of<Plain>();
  else
    return nullptr;
}

}  // namespace detail

/// Indices, extents or widths by dimension; the last dimension varies fastest.
using Index = std::vector<std::uint64_t>;

/// An Index of numbers of any integer types. One that is negative is refused where the Index is used.
template <class... Numbers>
Index indices(Numbers... numbers) {
  static_assert((std::is_integral_v<Numbers> && ...), "indices are integers");
  return {static_cast<std::uint64_t>(numbers)...};
}

/// An array as a whole, the same on all ranks. Its type follows from the elements that are protected.
struct Array {
  std::string name{};  ///< as in perdure_describe(); "": none
  Index extents{};     ///< extents of the whole array, in elements
  Index ghosts{};  ///< widths of the ghosts around each box in memory, on both sides of each dimension, not stored; {}:
                   ///< none
  bool fill_ghosts = false;   ///< a restore fills them, too
  std::string unit{};         ///< "": none
  std::string description{};  ///< a description for people
  std::string type{};         ///< "": that of the elements; must have their size
};

/// Memory of N dimensions: the address of the first element, and the distance from index to index. A view of a vector
/// that has fewer elements than its extents say has no address, and is refused when it is used.
template <class T, std::size_t N>
struct View {
  T* data = nullptr;                       ///< address of the first element
  std::array<std::uint64_t, N> extents{};  ///< in elements
  std::array<std::int64_t, N> strides{};   ///< bytes from one index to the next

  View() = default;
  /// Dense, the last dimension fastest.
  View(T* first, const std::array<std::uint64_t, N>& numbers) : data(first), extents(numbers) {
    auto stride = static_cast<std::int64_t>(sizeof(T));
    for (std::size_t d = N; d-- > 0; stride *= static_cast<std::int64_t>(extents[d])) strides[d] = stride;
  }
  /// With strides in bytes.
  View(T* first, const std::array<std::uint64_t, N>& numbers, const std::array<std::int64_t, N>& bytes)
      : data(first), extents(numbers), strides(bytes) {}
  /// The elements a vector has now, dense.
  template <class Allocator>
  View(std::vector<T, Allocator>& vector, const std::array<std::uint64_t, N>& numbers) : View(vector.data(), numbers) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addressable elements");
    if (elements() > vector.size()) data = nullptr;
  }
  /// An array of arrays, as in double field[4][5].
  template <class Nested, class = std::enable_if_t<std::is_array_v<Nested> && std::rank_v<Nested> == N &&
                                                   std::is_same_v<std::remove_all_extents_t<Nested>, T>>>
  explicit View(Nested& nested)
      : View(reinterpret_cast<T*>(&nested), extents_of<Nested>(std::make_index_sequence<N>())) {}

  /// Takes a std::mdspan, or any type with the same data_handle(), extent() and stride().
  template <class Span, class = std::void_t<decltype(std::declval<const Span&>().data_handle()),
                                            decltype(std::declval<const Span&>().stride(0))>>
  explicit View(const Span& span) : data(span.data_handle()) {
    for (std::size_t d = 0; d < N; ++d) {
      extents[d] = static_cast<std::uint64_t>(span.extent(d));
      strides[d] = static_cast<std::int64_t>(span.stride(d)) * static_cast<std::int64_t>(sizeof(T));
    }
  }

  /// The view of `numbers` elements from `first` on, such as the inside of a halo.
  View part(const std::array<std::uint64_t, N>& first, const std::array<std::uint64_t, N>& numbers) const {
    View inner(data, numbers, strides);
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t d = 0; d < N; ++d) {
      inside = inside && first[d] <= extents[d] && numbers[d] <= extents[d] - first[d];
      offset += static_cast<std::int64_t>(first[d]) * strides[d];
    }
    inner.data =
        inside && data != nullptr
            ? reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(offset))
            : nullptr;
    return inner;
  }
  /// The number of elements; the largest number when there are more than it can hold.
  std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : extents) {
      if (extent != 0 && count > std::numeric_limits<std::uint64_t>::max() / extent)
        return std::numeric_limits<std::uint64_t>::max();
      count *= extent;
    }
    return count;
  }

 private:
  template <class Nested, std::size_t... D>
  static constexpr std::array<std::uint64_t, N> extents_of(std::index_sequence<D...>) {
    return {std::extent_v<Nested, D>...};
  }
};

/// View(field) of an array of arrays.
template <class Nested, class = std::enable_if_t<std::is_array_v<Nested>>>
View(Nested&) -> View<std::remove_all_extents_t<Nested>, std::rank_v<Nested>>;

/// Elements that this rank owns, and where they are. A box without elements says that there are none.
template <class T>
struct Box {
  T* data = nullptr;                    ///< address of the element `begin`
  Index begin{};                        ///< index in the array, by dimension
  Index end{};                          ///< index behind the last element, by dimension
  std::vector<std::int64_t> strides{};  ///< bytes from one index to the next; {}: dense, with the ghosts around it

  Box() = default;
  /// Makes a box of the view's elements, which lie in the array from `first` on.
  template <std::size_t N>
  Box(Index first, const View<T, N>& view)
      : data(view.data), begin(std::move(first)), end(begin), strides(view.strides.begin(), view.strides.end()) {
    end.resize(N);  // another number of dimensions is refused where the box is used
    for (std::size_t d = 0; d < N; ++d) end[d] += view.extents[d];
  }
  /// Dense, with the array's ghosts around it.
  Box(Index first, Index behind, T* address) : data(address), begin(std::move(first)), end(std::move(behind)) {}

  /// True when there is an index that it has no element of.
  bool empty() const {
    for (std::size_t d = 0; d < begin.size() && d < end.size(); ++d)
      if (begin[d] == end[d]) return true;
    return false;
  }
};

/// The first and last index of a rank's part, by dimension.
struct Block {
  Index begin;  ///< the first index
  Index end;    ///< behind the last
  /// The extent in one dimension.
  std::uint64_t extent(std::size_t dimension) const { return end[dimension] - begin[dimension]; }
  /// The number of elements; 0 when the block is empty.
  std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < begin.size(); ++d) count *= extent(d);
    return count;
  }
};

/// An even part of a number of things, from one number to behind another.
struct Share {
  std::uint64_t begin = 0;  ///< the first
  std::uint64_t end = 0;    ///< behind the last
  /// The number of things in it.
  std::uint64_t size() const { return end - begin; }
};

/// An array in a stored checkpoint.
struct StoredArray {
  std::string name;                 ///< "" when it has none
  std::string unit;                 ///< "" when it has none
  std::string type;                 ///< type of an element
  Index extents;                    ///< extents of the whole array
  std::uint64_t element_bytes = 0;  ///< bytes of an element
};

namespace detail {

template <class T, class = void>
struct HasData : std::false_type {};
template <class T>
struct HasData<T, std::void_t<decltype(std::declval<T&>().data()), decltype(std::declval<T&>().size())>>
    : std::true_type {};

// The extents of an array of arrays, outermost first; none for other types.
template <class T>
Index nested_extents() {
  Index extents;
  if constexpr (std::is_array_v<T>) {
    extents = nested_extents<std::remove_extent_t<T>>();
    extents.insert(extents.begin(), std::extent_v<T>);
  }
  return extents;
}

inline std::uint64_t product(const Index& extents, std::size_t first = 0) {
  std::uint64_t product = 1;
  for (std::size_t d = first; d < extents.size(); ++d) product *= extents[d];
  return product;
}

inline void* address_of(const volatile void* data) { return const_cast<void*>(data); }

// Elements that lie behind each other in memory.
template <class T>
struct Elements {
  T* first;
  Index extents;
  Elements(T* address, Index numbers) : first(address), extents(std::move(numbers)) {}
};

// Gives the elements of an object, of an array, or of a type with data() and size().
template <class T>
auto elements_of(T&& object) {
  using Plain = std::remove_reference_t<T>;
  if constexpr (HasData<Plain>::value) {
    if constexpr (std::is_lvalue_reference_v<T>)
      return Elements(object.data(), indices(object.size()));
    else  // a temporary view gives writable elements even when const, a temporary owner does not
      return Elements(std::as_const(object).data(), indices(object.size()));
  } else {
    static_assert(std::is_lvalue_reference_v<T>, "a temporary cannot be protected");
    return Elements(reinterpret_cast<std::remove_all_extents_t<Plain>*>(&object), nested_extents<Plain>());
  }
}

inline perdure_array native_array(const Array& array, const Index& extents, const char* type) {
  return {array.name.c_str(),
          type,
          static_cast<int>(extents.size()),
          extents.data(),
          array.ghosts.empty() ? nullptr : array.ghosts.data(),
          array.fill_ghosts ? 1 : 0,
          array.unit.c_str(),
          array.description.c_str()};
}

// Fills in the array as C knows it, valid as long as `array` and `extents` live. Returns why that cannot be; "": it
// can.
template <class T>
std::string say_array(const Array& array, const Index& extents, perdure_array& native) {
  check_element<T>();
  if (!array.ghosts.empty() && array.ghosts.size() != extents.size())
    return "its ghosts have not as many dimensions as it has";
  const char* type = array.type.c_str();
  if constexpr (HasElementType<std::remove_cv_t<T>>::value) {
    if (array.type.empty()) type = type_of<T>();
  }
  if (*type == '\0') return "its type is not known; specialise perdure::ElementType, or set Array::type";
  const std::size_t bytes = type_bytes(type);
  if (bytes != 0 && bytes != sizeof(T))
    return std::string("its type '") + type + "' has " + std::to_string(bytes) +
           " bytes, its elements in memory have " + std::to_string(sizeof(T));
  native = native_array(array, extents, type);
  return {};
}

// Does the same for boxes, valid as long as they live.
template <class T>
std::string say_boxes(const std::vector<Box<T>>& boxes, std::size_t dimensions, std::vector<perdure_box>& owned) {
  for (const Box<T>& box : boxes) {
    if (box.begin.size() != dimensions || box.end.size() != dimensions ||
        (!box.strides.empty() && box.strides.size() != dimensions))
      return "a box has not as many dimensions as its array";
    if (box.empty()) continue;
    owned.push_back({box.data, box.begin.data(), box.end.data(), box.strides.empty() ? nullptr : box.strides.data()});
  }
  return {};
}

// Says why elements of this shape in memory do not fit the array; "": they do.
inline std::string shape_refusal(const Array& array, const Index& shape) {
  if (array.extents.empty() || product(array.extents) == product(shape)) return {};
  return "its extents are of " + std::to_string(product(array.extents)) + " elements, in memory are " +
         std::to_string(product(shape));
}

}  // namespace detail

}  // namespace perdure
