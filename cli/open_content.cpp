#include "cli/open_content.hpp"

#include <charconv>

namespace perdure::cli {
namespace {

constexpr const char* kBoxes = "write ranges as in [0:10, 5, :], as many as there are dimensions, or fewer";

std::string trimmed(std::string text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// Parses an index or an end; negative ones count from the end. Empty when it is no number, or beyond the extent.
std::optional<std::uint64_t> place(const std::string& text, std::uint64_t extent, std::uint64_t most) {
  const bool back = text.starts_with('-');
  const char* begin = text.data() + (back ? 1 : 0);
  const char* const end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto [stopped, error] = std::from_chars(begin, end, number);
  if (begin == end || stopped != end || error != std::errc()) return std::nullopt;
  if (back && (number == 0 || number > extent)) return std::nullopt;
  if (back) number = extent - number;
  return number <= most ? std::optional(number) : std::nullopt;
}

/// Returns false when `text` is no range of the dimension.
bool parse_range(const std::string& text, array::Box& box, unsigned d) {
  const std::uint64_t extent = box.end[d];
  const auto colon = text.find(':');
  if (text.empty()) return true;
  if (colon == std::string::npos) {
    const auto at = extent == 0 ? std::nullopt : place(text, extent, extent - 1);
    if (!at) return false;
    box.begin[d] = *at;
    box.end[d] = *at + 1;
    return true;
  }
  const std::string first = trimmed(text.substr(0, colon)), last = trimmed(text.substr(colon + 1));
  const auto begin = first.empty() ? std::optional<std::uint64_t>(0) : place(first, extent, extent);
  const auto end = last.empty() ? std::optional(extent) : place(last, extent, extent);
  if (!begin || !end || *begin > *end) return false;
  box.begin[d] = *begin;
  box.end[d] = *end;
  return true;
}

}  // namespace

base::Result<OpenContent> open_content(const std::string& checkpoint, const std::string& location,
                                       const Terminal& terminal) {
  PERDURE_TRY(const auto spec, parse_checkpoint(checkpoint));
  OpenContent open;
  PERDURE_TRY(open.store, open_store(location, terminal));
  auto opened = reader::open_version(*open.store, spec.name, spec.version, spec.branch);
  const auto is_missing = [](const base::Error& why) {
    return why.code == PERDURE_NOT_FOUND || why.code == PERDURE_MISMATCH;
  };
  if (!opened && is_missing(opened.error())) {
    const auto listing = reader::find_version(*open.store, spec.name, spec.version, spec.branch);
    if (!listing && is_missing(listing.error())) return base::fail(no_such_checkpoint(*open.store, spec));
  }
  if (!opened) return base::fail(opened.error());
  open.content = std::make_unique<reader::StoredContent>(std::move(opened->content));
  return open;
}

base::Result<RegionSpec> parse_region(const std::string& text) {
  const auto bracket = text.find('[');
  RegionSpec spec{text.substr(0, bracket), std::nullopt};
  if (bracket == std::string::npos) return spec;
  if (!text.ends_with(']'))
    return base::fail(PERDURE_INVALID_ARGUMENT, text.substr(0, 200), "the bracket is not closed", kBoxes);
  spec.box = text.substr(bracket + 1, text.size() - bracket - 2);
  return spec;
}

base::Result<array::Box> parse_box(const std::string& text, const array::Box& whole, const std::string& object) {
  array::Box box = whole;
  const std::string extents = "; its extents are " + extents_text(whole);
  if (trimmed(text).empty()) return box;
  std::size_t begin = 0;
  for (unsigned d = 0;; ++d) {
    const auto comma = text.find(',', begin);
    if (d == whole.dimensions)
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "[" + text + "] has too many dimensions" + extents, kBoxes);
    const std::string range = trimmed(text.substr(begin, comma == std::string::npos ? comma : comma - begin));
    if (!parse_range(range, box, d))
      return base::fail(PERDURE_INVALID_ARGUMENT, object,
                        "'" + range + "' is not a range of dimension " + std::to_string(d) + extents, kBoxes);
    if (comma == std::string::npos) return box;
    begin = comma + 1;
  }
}

std::string index_text(const array::Index& at, unsigned dimensions) {
  std::string text = "[";
  for (unsigned d = 0; d < dimensions; ++d) text += (d == 0 ? "" : ", ") + std::to_string(at[d]);
  return text + "]";
}

std::string extents_text(const array::Box& whole) { return index_text(whole.end, whole.dimensions); }

std::string type_text(const array::ElementType& type) {
  const bool bytes =
      !type.compound() && type.members().size() == 1 && type.members().front().scalar.kind == array::ScalarKind::bytes;
  return bytes ? std::to_string(type.bytes()) + (type.bytes() == 1 ? " byte" : " bytes") : type.text();
}

}  // namespace perdure::cli
