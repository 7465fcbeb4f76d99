#include "cli/show_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/bytes.hpp"
#include "base/printable.hpp"
#include "cli/libraries.hpp"
#include "inspect/alike.hpp"
#include "inspect/table.hpp"

namespace perdure::cli {
namespace {

using base::format_bytes;
using Right = Table::Align;

// Limits a screenful, however many ranks and regions there are.
constexpr std::size_t kMostLots = 6, kMostSizes = 12, kMostDamaged = 5;

std::string head(const reader::VersionFacts& facts) {
  const auto& id = facts.listing.id;
  return base::printable(id.text() + ": " + reader::state_name(facts.state) +
                         (facts.reason.empty() ? "" : " (" + facts.reason + ")")) +
         "\n  created " + local_time(id.attempt.created_ns) + ", attempt " + id.attempt.hex() + "\n  " +
         std::to_string(facts.ranks) + " ranks, " + std::to_string(facts.listing.segments.size()) + " of " +
         std::to_string(facts.listing.segment_count) + " segments, " + format_bytes(facts.bytes) + "\n";
}

std::string segment_text(const reader::SegmentFacts& segment, const std::string& location) {
  return "  segment " + std::to_string(segment.ref.index) + ": " + base::printable(location + "/" + segment.ref.path) +
         ", " + format_bytes(segment.bytes) +
         (segment.manifest ? ", by " + base::printable(segment.manifest->writer) : "") + "\n" +
         (segment.error ? "    " + base::printable(segment.error->text()) + "\n" : "");
}

/// Writes numbers as such, text in quotes, byte strings by their size.
struct AttributeText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(const std::string& text) const {
    std::string quoted = "\"";
    for (const char c : text) quoted += c >= ' ' && c <= '~' ? c : '?';  // it may come from anywhere
    return quoted + "\"";
  }
  std::string operator()(const std::vector<std::byte>& bytes) const { return format_bytes(bytes.size()); }
  std::string operator()(const std::vector<std::int64_t>& numbers) const {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
  }
};

/// Writes facts without a column in the table of regions: kinds other than memory, and attributes.
std::string entries_text(const segment::Piece& piece) {
  std::string text;
  for (const auto& entry : piece.regions) {
    if (entry.plain()) continue;
    text += fmt::format("  rank {}, region {}: {}", piece.rank, entry.id, segment::kind_name(entry.kind));
    for (const auto& [key, value] : entry.attributes) text += ", " + key + " " + std::visit(AttributeText{}, value);
    text += "\n";
  }
  return text;
}

std::string pieces_text(const segment::Manifest& manifest) {
  std::string entries;
  Table regions({{"  RANK", Right::right},
                 {"REGION", Right::right},
                 {"ELEMENT BYTES", Right::right},
                 {"COUNT", Right::right},
                 {"SIZE", Right::right}});
  Table chunks({{"  RANK", Right::right},
                {"CHUNK", Right::right},
                {"OFFSET", Right::right},
                {"LENGTH", Right::right},
                {"HASH"}});
  for (const auto& piece : manifest.pieces) {
    const std::string rank = std::to_string(piece.rank);
    for (const auto& region : piece.regions)
      regions.row({rank, std::to_string(region.id), std::to_string(region.element_bytes), std::to_string(region.count),
                   format_bytes(region.bytes())});
    entries += entries_text(piece);
    for (std::size_t i = 0; i < piece.chunks.size(); ++i)
      chunks.row({rank, std::to_string(i), std::to_string(piece.chunks[i].offset),
                  std::to_string(piece.chunks[i].length), piece.chunks[i].hash.hex()});
  }
  return regions.text() + entries + chunks.text();
}

template <class Text>
std::string span_text(const Span& span, const Text& text) {
  return span.least == span.most ? text(span.least) : text(span.least) + " to " + text(span.most);
}

std::string bytes_text(const Span& span) {
  const std::string least = format_bytes(span.least), most = format_bytes(span.most);
  return least == most ? least : least + " to " + most;
}

/// All segments of a version lie in one directory.
std::string segments_text(const reader::VersionFacts& facts, const std::string& location) {
  if (facts.segments.empty()) return {};
  std::vector<std::int64_t> numbers;
  std::set<std::string> writers;
  Span bytes{facts.segments.front().bytes, facts.segments.front().bytes};
  for (const reader::SegmentFacts& segment : facts.segments) {
    numbers.push_back(segment.ref.index);
    bytes.widen(segment.bytes);
    if (segment.manifest) writers.insert(segment.manifest->writer);
  }
  std::string path = location + "/" + facts.segments.front().ref.path;
  path.erase(path.rfind('/'));
  std::string text = fmt::format("  segment{} {}: {}{}, in {}", numbers.size() > 1 ? "s" : "", short_ranges(numbers),
                                 bytes_text(bytes), numbers.size() > 1 ? " each" : "", base::printable(path));
  if (!writers.empty()) text += ", by " + base::printable(*writers.begin()) + (writers.size() > 1 ? " and others" : "");
  return text + "\n";
}

std::string damaged_text(const reader::VersionFacts& facts) {
  std::string text;
  std::size_t count = 0;
  for (const reader::SegmentFacts& segment : facts.segments)
    if (segment.error && ++count <= kMostDamaged)
      text += "  segment " + std::to_string(segment.ref.index) + ": " + base::printable(segment.error->text()) + "\n";
  if (count > kMostDamaged) text += fmt::format("  and {} more that cannot be read\n", count - kMostDamaged);
  return text;
}

/// Adds a column for the kind if any region is not memory.
std::string regions_table(const AlikeRanks& alike) {
  const bool kinds = std::any_of(alike.regions.begin(), alike.regions.end(),
                                 [](const AlikeRegions& one) { return one.kind != segment::EntryKind::memory; });
  std::vector<Table::Column> columns = {{"    REGIONS"},
                                        {"ELEMENT BYTES", Right::right},
                                        {"COUNT", Right::right},
                                        {"SIZE OF ONE", Right::right},
                                        {"ON ALL RANKS", Right::right}};
  if (kinds) columns.push_back({"KIND"});
  Table table(columns);
  for (std::size_t i = 0; i < std::min(alike.regions.size(), kMostSizes); ++i) {
    const AlikeRegions& one = alike.regions[i];
    const Span size{one.count.least * one.element_bytes, one.count.most * one.element_bytes};
    std::vector<std::string> cells = {"    " + short_ranges(one.ids), std::to_string(one.element_bytes),
                                      span_text(one.count, [](std::uint64_t count) { return std::to_string(count); }),
                                      bytes_text(size), format_bytes(one.bytes)};
    if (kinds) cells.push_back(segment::kind_name(one.kind));
    table.row(cells);
  }
  std::string text = table.text();
  if (alike.regions.size() > kMostSizes)
    text += fmt::format("    and regions of {} more sizes; --verbose shows them\n", alike.regions.size() - kMostSizes);
  return text;
}

std::string lot_text(const AlikeRanks& alike) {
  const bool many = alike.ranks.size() > 1;
  std::string text = fmt::format("  rank{} {}{}: {} region{}, {}{}, {} in {} chunk{} of at most {}\n", many ? "s" : "",
                                 short_ranges(alike.ranks), many ? fmt::format(" ({})", alike.ranks.size()) : "",
                                 alike.region_count, alike.region_count == 1 ? "" : "s", bytes_text(alike.rank_bytes),
                                 many ? " each" : "", many ? format_bytes(alike.bytes) + " together" : "all",
                                 alike.chunks, alike.chunks == 1 ? "" : "s", bytes_text(alike.chunk_bytes));
  return text + (alike.region_count > 0 ? regions_table(alike) : "");
}

}  // namespace

std::string folded_text(const reader::VersionFacts& facts, const std::string& location) {
  std::string text = head(facts) + segments_text(facts, location) + damaged_text(facts);
  const auto lots = alike_ranks(facts, kMostLots);
  for (std::size_t i = 0; i < std::min(lots.size(), kMostLots); ++i) text += lot_text(lots[i]);
  if (lots.size() > kMostLots) {
    std::size_t ranks = 0;
    for (std::size_t i = kMostLots; i < lots.size(); ++i) ranks += lots[i].ranks.size();
    text += fmt::format("  and {} more ranks, which protect other regions; --verbose shows them\n", ranks);
  }
  return text;
}

std::string whole_text(const reader::VersionFacts& facts, const std::string& location) {
  std::string text = head(facts);
  for (const reader::SegmentFacts& segment : facts.segments)
    text += segment_text(segment, location) + (segment.manifest ? pieces_text(*segment.manifest) : "");
  return text;
}

}  // namespace perdure::cli
