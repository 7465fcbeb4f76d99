#include "base/cbor_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace perdure::base {
namespace {

constexpr std::size_t kWindowBytes = 64 * KiB;
constexpr std::size_t kMostHead = 9;
static_assert(CborReader::kMostString + kMostHead <= kWindowBytes);

// The major types (the three upper bits of an item's first byte), and lower bits of the major type 7.
constexpr unsigned kUnsigned = 0, kNegative = 1, kBytes = 2, kText = 3, kArray = 4, kMap = 5, kTag = 6, kSimple = 7;
constexpr unsigned kFalse = 20, kTrue = 21, kNull = 22, kHalf = 25, kDouble = 27;

CborReader::Type type_of(std::byte first) {
  using Type = CborReader::Type;
  const auto value = std::to_integer<unsigned>(first);
  switch (value >> 5) {
    case kUnsigned:
      return Type::unsigned_number;
    case kNegative:
      return Type::negative_number;
    case kBytes:
      return Type::bytes;
    case kText:
      return Type::text;
    case kArray:
      return Type::array;
    case kMap:
      return Type::map;
    default:
      return value >> 5 == kSimple && ((value & 31U) == kFalse || (value & 31U) == kTrue) ? Type::boolean : Type::other;
  }
}

}  // namespace

CborReader::CborReader(std::uint64_t bytes, std::uint64_t most_items, Next next)
    : next_(std::move(next)), unread_(bytes), items_left_(most_items) {}

CborReader::CborReader(ConstByteSpan data, std::uint64_t most_items) : items_left_(most_items), window_(data) {}

// Fills the window up to `bytes` bytes, or records an error; true if no error occurred.
bool CborReader::ensure(std::size_t bytes) {
  if (!good() || window_.size() >= bytes) return good();
  if (window_.size() + unread_ < bytes) return refuse("it ends too early"), false;
  std::vector<std::byte> filled(std::min<std::uint64_t>(kWindowBytes, window_.size() + unread_));
  std::copy(window_.begin(), window_.end(), filled.begin());
  const ByteSpan target = ByteSpan(filled).subspan(window_.size());
  if (auto got = next_(target); !got) return failed_ = std::move(got).error(), false;
  unread_ -= target.size();
  buffer_ = std::move(filled);
  window_ = buffer_;
  return true;
}

ConstByteSpan CborReader::take(std::size_t bytes) {
  if (!ensure(bytes)) return {};
  const ConstByteSpan taken = window_.first(bytes);
  window_ = window_.subspan(bytes);
  return taken;
}

CborReader::Type CborReader::type() {
  const bool there = window_.empty() ? left() > 0 && ensure(1) : good();
  return there ? type_of(window_.front()) : Type::none;
}

bool CborReader::is_next(Type expected, const char* otherwise) {
  if (good() && type() != expected) refuse(left() == 0 ? "it ends too early" : otherwise);
  return good();
}

CborReader::Head CborReader::head() {
  if (!ensure(std::clamp<std::uint64_t>(left(), 1, kMostHead))) return {};
  if (items_left_ == 0) return refuse("it has too many items"), Head{};
  --items_left_;
  const std::byte* at = window_.data();
  const auto first = std::to_integer<unsigned>(*at);
  Head head{first >> 5, first & 31U, first & 31U};
  if (head.info > 27) return refuse("it has an item without a definite length, or one that there is not"), Head{};
  const std::size_t bytes = head.info < 24 ? 0 : std::size_t{1} << (head.info - 24);
  if (bytes >= window_.size()) return refuse("it ends too early"), Head{};
  if (bytes > 0) head.value = 0;
  for (std::size_t i = 1; i <= bytes; ++i) head.value = head.value << 8 | std::to_integer<std::uint64_t>(at[i]);
  window_ = window_.subspan(1 + bytes);
  return head;
}

std::uint64_t CborReader::unsigned_number() {
  return is_next(Type::unsigned_number, "it is no unsigned number") ? head().value : 0;
}

std::int64_t CborReader::number() {
  if (type() != Type::negative_number && !is_next(Type::unsigned_number, "it is no integer")) return 0;
  const Head one = head();
  if (one.value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return refuse("it is an integer beyond 63 bits"), 0;
  const auto value = static_cast<std::int64_t>(one.value);
  return one.major == kNegative ? -1 - value : value;
}

bool CborReader::boolean() { return is_next(Type::boolean, "it is neither true nor false") && head().info == kTrue; }

ConstByteSpan CborReader::string() {
  const std::uint64_t bytes = head().value;
  if (bytes > left()) return refuse("it has a string that is longer than what follows"), ConstByteSpan{};
  if (bytes > kMostString) return refuse("it has a string of more than 32 KiB"), ConstByteSpan{};
  return take(bytes);
}

std::string CborReader::text() {
  if (!is_next(Type::text, "it is no text")) return {};
  const ConstByteSpan raw = string();
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

std::vector<std::byte> CborReader::bytes() {
  if (!is_next(Type::bytes, "it is no byte string")) return {};
  const ConstByteSpan raw = string();
  return {raw.begin(), raw.end()};
}

std::uint64_t CborReader::count(unsigned least_bytes) {
  const std::uint64_t count = head().value;
  if (count > left() / least_bytes) return refuse("it has more items than bytes follow"), 0;
  if (count > items_left_ / least_bytes) return refuse("it has too many items"), 0;
  return good() ? count : 0;
}

std::uint64_t CborReader::array() { return is_next(Type::array, "it is no array") ? count(1) : 0; }
std::uint64_t CborReader::map() { return is_next(Type::map, "it is no map") ? count(2) : 0; }

void CborReader::skip() {
  std::array<std::uint64_t, kMostNested> open{};  // items left at each depth
  std::size_t depth = 0;
  do {
    if (depth > 0) --open[depth - 1];
    const Type next = type();
    std::uint64_t inside = 0;
    if (next == Type::array) {
      inside = array();
    } else if (next == Type::map) {
      inside = 2 * map();
    } else if (next == Type::bytes || next == Type::text) {
      (void)string();
    } else if (const Head one = head(); one.major == kTag) {
      refuse("it has a tag");
    } else if (one.major == kSimple && one.info != kFalse && one.info != kTrue && one.info != kNull &&
               (one.info < kHalf || one.info > kDouble)) {
      refuse("it has a kind of item that there is not");
    }
    if (inside > 0 && depth == open.size()) refuse("it is nested too deeply");
    if (!good()) return;
    if (inside > 0) open[depth++] = inside;
    while (depth > 0 && open[depth - 1] == 0) --depth;
  } while (depth > 0);
}

Status CborReader::check(const std::string& object) const {
  if (failed_) return fail(*failed_);
  return cause_.empty() ? Status() : fail(PERDURE_CORRUPT, object, "not valid CBOR: " + cause_);
}

Status CborReader::end(const std::string& object) const {
  PERDURE_CHECK(check(object));
  return left() == 0 ? Status() : fail(PERDURE_CORRUPT, object, "not valid CBOR: it goes on after its end");
}

}  // namespace perdure::base
