#include "array/element_type.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

namespace perdure::array {
namespace {

constexpr std::size_t kMostText = 4096, kMostMembers = 256, kMostName = 64;
constexpr std::uint64_t kMostElementBytes = std::uint64_t{1} << 20;

struct Letter {
  char letter;
  ScalarKind kind;
  std::vector<std::uint64_t> sizes;  // none: any
};

// Never destroyed: the end of the process still closes handles.
const std::vector<Letter>& letters() {
  static const auto& all = *new std::vector<Letter>{{'i', ScalarKind::integer, {1, 2, 4, 8}},
                                                    {'u', ScalarKind::natural, {1, 2, 4, 8}},
                                                    {'f', ScalarKind::real, {4, 8}},
                                                    {'c', ScalarKind::complex, {8, 16}},
                                                    {'b', ScalarKind::truth, {1}},
                                                    {'v', ScalarKind::bytes, {}}};
  return all;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Parses the text once. It leaves unreadable text, so that the place of the failure is known.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  std::size_t at() const { return at_; }
  bool done() const { return at_ == text_.size(); }
  bool take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<std::uint64_t> number() {
    const std::size_t begun = at_;
    std::uint64_t value = 0;
    while (!done() && is_digit(text_[at_]) && value <= kMostElementBytes)
      value = value * 10 + static_cast<unsigned>(text_[at_++] - '0');
    const bool good = at_ > begun && value > 0 && value <= kMostElementBytes && text_[begun] != '0';
    if (!good) at_ = begun;
    return good ? std::optional(value) : std::nullopt;
  }
  std::optional<Scalar> scalar() {
    const std::size_t begun = at_;
    for (const auto& [letter, kind, sizes] : letters()) {
      if (!take(letter)) continue;
      const auto bytes = number();
      if (bytes && (sizes.empty() || std::find(sizes.begin(), sizes.end(), *bytes) != sizes.end()))
        return Scalar{kind, *bytes};
      at_ = begun;
    }
    return std::nullopt;
  }
  /// Takes the colon, too; empty if there is none.
  std::string name() {
    const std::size_t begun = at_;
    if (!done() && begins_name(text_[at_]))
      while (!done() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string name(text_.substr(begun, at_ - begun));
    if (!name.empty() && name.size() <= kMostName && take(':')) return name;
    at_ = begun;
    return {};
  }
  std::optional<Member> member() {
    const std::size_t begun = at_;
    Member member{name(), {}, 1, 0};
    if (!member.name.empty())
      if (const auto count = number()) member.count = *count;
    const auto scalar = this->scalar();
    const bool room = scalar && scalar->kind == ScalarKind::bytes;
    if (scalar && (room || !member.name.empty())) {
      member.scalar = *scalar;
      return member;
    }
    at_ = begun;
    return std::nullopt;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

base::Result<std::vector<Member>> read_members(Parser& parser, const std::string& object) {
  std::vector<Member> members;
  std::uint64_t bytes = 0;
  do {
    auto member = parser.member();
    if (!member)
      return base::fail(PERDURE_INVALID_ARGUMENT, object,
                        "its type has no member at character " + std::to_string(parser.at() + 1),
                        "write members as in {position:3f8,id:i4,v4}");
    const bool twice = !member->name.empty() && std::any_of(members.begin(), members.end(),
                                                            [&](const Member& m) { return m.name == member->name; });
    if (twice) return base::fail(PERDURE_INVALID_ARGUMENT, object, "its type has two members '" + member->name + "'");
    member->offset = bytes;
    bytes += member->count * member->scalar.bytes;  // both at most 2^20
    if (bytes > kMostElementBytes || members.size() == kMostMembers)
      return base::fail(PERDURE_INVALID_ARGUMENT, object,
                        "its type has more than " + std::to_string(kMostMembers) + " members or " +
                            std::to_string(kMostElementBytes) + " bytes");
    members.push_back(std::move(*member));
  } while (parser.take(','));
  return members;
}

std::string text_of(const Scalar& scalar) {
  const auto& all = letters();
  const auto letter = std::find_if(all.begin(), all.end(), [&](const Letter& l) { return l.kind == scalar.kind; });
  return letter->letter + std::to_string(scalar.bytes);
}

template <class T>
double number_at(base::ConstByteSpan at) {
  T value{};
  std::memcpy(&value, at.data(), sizeof value);
  return static_cast<double>(value);
}

template <class One, class Two, class Four, class Eight>
double sized(std::uint64_t bytes, base::ConstByteSpan at) {
  if (bytes == 1) return number_at<One>(at);
  if (bytes == 2) return number_at<Two>(at);
  return bytes == 4 ? number_at<Four>(at) : number_at<Eight>(at);
}

}  // namespace

base::Result<ElementType> ElementType::parse(std::string_view text, const std::string& object) {
  if (text.empty() || text.size() > kMostText)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      "its type is not a text of 1 to " + std::to_string(kMostText) + " characters");
  Parser parser(text);
  ElementType type;
  type.compound_ = parser.take('{');
  if (type.compound_) {
    PERDURE_TRY(type.members_, read_members(parser, object));
  } else if (const auto scalar = parser.scalar(); scalar && scalar->bytes <= kMostElementBytes) {
    type.members_ = {Member{{}, *scalar, 1, 0}};
  }
  if (type.members_.empty() || (type.compound_ && !parser.take('}')) || !parser.done())
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      "its type cannot be read from character " + std::to_string(parser.at() + 1) + " on",
                      "types are i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16 b1, v and a number of bytes, or members of these,"
                      " as in {position:3f8,id:i4,v4}");
  for (const Member& member : type.members_) type.bytes_ += member.count * member.scalar.bytes;
  return type;
}

ElementType ElementType::of_bytes(std::uint64_t bytes) {
  ElementType type;
  type.members_ = {Member{{}, {ScalarKind::bytes, bytes}, 1, 0}};
  type.bytes_ = bytes;
  return type;
}

std::string ElementType::text() const {
  if (!compound_) return members_.empty() ? "" : text_of(members_.front().scalar);
  std::string text = "{";
  for (const Member& member : members_) {
    if (text.size() > 1) text += ",";
    if (!member.name.empty()) text += member.name + ":";
    if (member.count != 1) text += std::to_string(member.count);
    text += text_of(member.scalar);
  }
  return text + "}";
}

double as_number(const Scalar& scalar, base::ConstByteSpan at) {
  switch (scalar.kind) {
    case ScalarKind::integer:
      return sized<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(scalar.bytes, at);
    case ScalarKind::natural:
    case ScalarKind::truth:
      return sized<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(scalar.bytes, at);
    case ScalarKind::real:
      return scalar.bytes == 4 ? number_at<float>(at) : number_at<double>(at);
    case ScalarKind::complex:
      return scalar.bytes == 8 ? number_at<float>(at) : number_at<double>(at);
    case ScalarKind::bytes:
      break;
  }
  return 0;
}

}  // namespace perdure::array
