#pragma once
// Makes random values of any structure with a field list, from a seed. Only tests and fuzz targets that cover all
// messages use it. A structure that can be wrong is drawn again until it is right. If that would take too long, its
// namespace defines fill_sample(value, any).
#include <random>

#include "base/field_codec.hpp"

namespace perdure::test_support {

class AnyValue {
 public:
  explicit AnyValue(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  /// Draws small numbers, so that numbers fit together, extreme ones, or any.
  std::uint64_t number() {
    const std::uint64_t kind = below(8);
    return kind < 5 ? below(5) : kind == 5 ? ~0ULL : kind == 6 ? random_() : random_() >> 34U;
  }
  std::string text() {
    std::string text;
    const bool name = below(3) != 0;
    for (std::uint64_t left = below(12); left > 0; --left)
      text += static_cast<char>(name ? 'a' + static_cast<int>(below(26)) : static_cast<int>(below(256)));
    return text;
  }

  template <class T>
  T make() {
    T value{};
    fill(value);
    return value;
  }

  template <class T>
  void fill(T& value) {
    using namespace base::field_codec;
    if constexpr (requires { fill_sample(value, *this); }) {
      fill_sample(value, *this);
    } else if constexpr (Number<T>) {
      value = static_cast<T>(number());
    } else if constexpr (std::same_as<T, bool>) {
      value = below(2) != 0;
    } else if constexpr (std::same_as<T, double>) {
      value = static_cast<double>(number()) / 3;
    } else if constexpr (std::same_as<T, base::ErrorCode>) {
      value = static_cast<T>(1 + below(base::kLastErrorCode));
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(below(static_cast<std::uint64_t>(base::kGreatest<T>) + 1));
    } else if constexpr (std::same_as<T, std::string>) {
      value = text();
    } else if constexpr (std::same_as<T, std::vector<std::byte>>) {
      value.assign(below(40), static_cast<std::byte>(below(256)));
    } else if constexpr (Is<T>::array) {
      for (auto& item : value) fill(item);
    } else if constexpr (Is<T>::vector) {
      value.resize(below(4));
      for (auto& item : value) fill(item);
    } else if constexpr (Is<T>::map) {
      value.clear();
      for (std::uint64_t left = below(4); left > 0; --left) {
        auto key = make<typename T::key_type>();
        value[std::move(key)] = make<typename T::mapped_type>();
      }
    } else if constexpr (Is<T>::pair) {
      fill(value.first);
      fill(value.second);
    } else if constexpr (Is<T>::optional) {
      value.reset();
      if (below(2) != 0) fill(value.emplace());
    } else if constexpr (Is<T>::variant) {
      fill_alternative<0>(value, below(std::variant_size_v<T>));
    } else if constexpr (Is<T>::result) {
      if (below(3) == 0)
        value = base::fail(make<base::Error>());
      else
        value = make<typename T::value_type>();
    } else {
      fill_fields(value);
    }
  }

 private:
  template <std::size_t I, class Variant>
  void fill_alternative(Variant& value, std::size_t index) {
    if constexpr (I < std::variant_size_v<Variant>) {
      if (index == I)
        fill(value.template emplace<I>());
      else
        fill_alternative<I + 1>(value, index);
    }
  }
  template <class T>
  void fill_fields(T& value) {
    const auto all = [&] { base::field_codec::with_fields_of(value, [&](auto&... field) { (fill(field), ...); }); };
    all();
    if constexpr (base::CanBeWrong<T>)
      while (!value.wrong().empty()) all();
  }

  std::mt19937_64 random_;
};

}  // namespace perdure::test_support
