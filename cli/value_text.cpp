#include "cli/value_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace perdure::cli {
namespace {

using array::Member;
using array::Scalar;
using array::ScalarKind;

template <class T>
T at(base::ConstByteSpan bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Calls `use(value)` with an integer or a real.
template <class Use>
auto with_value(const Scalar& scalar, base::ConstByteSpan bytes, Use&& use) {
  if (scalar.kind == ScalarKind::real) return scalar.bytes == 4 ? use(at<float>(bytes)) : use(at<double>(bytes));
  if (scalar.kind == ScalarKind::integer) {
    if (scalar.bytes == 1) return use(std::int64_t{at<std::int8_t>(bytes)});
    if (scalar.bytes == 2) return use(std::int64_t{at<std::int16_t>(bytes)});
    if (scalar.bytes == 4) return use(std::int64_t{at<std::int32_t>(bytes)});
    return use(at<std::int64_t>(bytes));
  }
  if (scalar.bytes == 1) return use(std::uint64_t{at<std::uint8_t>(bytes)});
  if (scalar.bytes == 2) return use(std::uint64_t{at<std::uint16_t>(bytes)});
  if (scalar.bytes == 4) return use(std::uint64_t{at<std::uint32_t>(bytes)});
  return use(at<std::uint64_t>(bytes));
}

std::string hexadecimal(base::ConstByteSpan bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte one : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(one));
  return text;
}

Scalar half_of(const Scalar& scalar) { return {ScalarKind::real, scalar.bytes / 2}; }

std::string text_of(const Scalar& scalar, base::ConstByteSpan bytes) {
  const auto plain = [](auto value) { return fmt::format("{}", value); };
  if (scalar.kind == ScalarKind::bytes) return hexadecimal(bytes.first(scalar.bytes));
  if (scalar.kind != ScalarKind::complex) return with_value(scalar, bytes, plain);
  const Scalar half = half_of(scalar);
  const std::string imaginary = with_value(half, bytes.subspan(half.bytes), plain);
  return with_value(half, bytes, plain) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "i";
}

base::Json json_of(const Scalar& scalar, base::ConstByteSpan bytes) {
  const auto plain = [](auto value) -> base::Json {
    if constexpr (std::is_floating_point_v<decltype(value)>) return real_json(value);
    return value;
  };
  if (scalar.kind == ScalarKind::bytes) return hexadecimal(bytes.first(scalar.bytes));
  if (scalar.kind == ScalarKind::truth) return at<std::uint8_t>(bytes) != 0;
  if (scalar.kind != ScalarKind::complex) return with_value(scalar, bytes, plain);
  const Scalar half = half_of(scalar);
  return base::Json::array({with_value(half, bytes, plain), with_value(half, bytes.subspan(half.bytes), plain)});
}

}  // namespace

std::string element_text(const array::ElementType& type, base::ConstByteSpan element) {
  if (!type.compound()) return text_of(type.members().front().scalar, element);
  std::string text = "{";
  for (const Member& member : type.members()) {
    if (member.name.empty()) continue;
    text += (text.size() > 1 ? ", " : "") + member.name + ": " + (member.count > 1 ? "[" : "");
    for (std::uint64_t i = 0; i < member.count; ++i)
      text += (i == 0 ? "" : ", ") + text_of(member.scalar, element.subspan(member.offset + i * member.scalar.bytes));
    if (member.count > 1) text += "]";
  }
  return text + "}";
}

base::Json element_json(const array::ElementType& type, base::ConstByteSpan element) {
  if (!type.compound()) return json_of(type.members().front().scalar, element);
  base::Json json = base::Json::object();
  for (const Member& member : type.members()) {
    if (member.name.empty()) continue;
    base::Json values = base::Json::array();
    for (std::uint64_t i = 0; i < member.count; ++i)
      values.push_back(json_of(member.scalar, element.subspan(member.offset + i * member.scalar.bytes)));
    json[member.name] = member.count == 1 ? values[0] : values;
  }
  return json;
}

std::string number_text(const reader::Number& number) {
  if (const auto* real = std::get_if<double>(&number)) return fmt::format("{:.6g}", *real);
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

base::Json real_json(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

base::Json number_json(const reader::Number& number) {
  if (const auto* real = std::get_if<double>(&number)) return real_json(*real);
  return std::visit([](auto value) { return base::Json(value); }, number);
}

}  // namespace perdure::cli
