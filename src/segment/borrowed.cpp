#include "segment/borrowed.hpp"

#include <charconv>
#include <limits>

namespace perdure::segment {
namespace {

constexpr const char* kBorrows = "borrows";
constexpr char kBetween = ' ';

base::Error wrongly_said(const std::string& object) {
  return {PERDURE_CORRUPT, object, "what it says of the segments that it borrows from other versions is no such list",
          "", false};
}

base::Status add_borrowed(const RegionEntry& entry, const std::string& object, std::vector<Borrowed>& all) {
  const auto& attributes = entry.attributes.map();
  const auto found = attributes.find(kBorrows);
  if (found == attributes.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second);
  if (text == nullptr) return base::fail(wrongly_said(object));
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find(kBetween, begin), text->size());
    const auto one = parse_borrowed_segment(std::string_view(*text).substr(begin, end - begin));
    if (!one || all.size() == kMostBorrowed) return base::fail(wrongly_said(object));
    all.push_back(*one);
    begin = end + 1;
  }
  return {};
}

}  // namespace

std::string Borrowed::text() const {
  return std::to_string(version) + "-" + file_name(file.index, file.count, file.attempt);
}

std::optional<Borrowed> parse_borrowed_segment(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto file = parse_file_name(text.substr(dash + 1));
  Borrowed borrowed;
  std::from_chars(text.data(), text.data() + dash, borrowed.version);
  if (!file || borrowed.version > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::nullopt;
  borrowed.file = *file;
  if (borrowed.text() != text) return std::nullopt;  // accepts one spelling only
  return borrowed;
}

void set_borrowed(RegionEntry& entry, const std::vector<Borrowed>& segments) {
  std::string text;
  for (const Borrowed& one : segments) text += (text.empty() ? "" : std::string(1, kBetween)) + one.text();
  if (!text.empty()) entry.attributes[std::string(kBorrows)] = std::move(text);
}

base::Result<std::vector<Borrowed>> borrowed_of(const Manifest& manifest, const std::string& object) {
  std::vector<Borrowed> all;
  for (const Piece& piece : manifest.pieces)
    for (const RegionEntry& entry : piece.regions) PERDURE_CHECK(add_borrowed(entry, object, all));
  return all;
}

}  // namespace perdure::segment
