#include "cli/show_regions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "cli/libraries.hpp"
#include "cli/open_content.hpp"
#include "cli/progress.hpp"
#include "cli/value_text.hpp"
#include "inspect/alike.hpp"
#include "inspect/table.hpp"
#include "reader/examine.hpp"

namespace perdure::cli {
namespace {

using reader::MemberStatistics;
using reader::StoredRegion;
using Right = Table::Align;

/// A line of the table: one region, or local ones of the same size without names.
struct Row {
  StoredRegion region;            ///< if there are several, the first one with the bytes of all
  std::vector<std::int64_t> ids;  ///< ascending
  std::vector<MemberStatistics> members;
};

bool alike(const StoredRegion& a, const StoredRegion& b) {
  return !a.array() && a.kind == b.kind && a.label == b.label && a.label.name.empty() && a.type == b.type &&
         a.ranks == b.ranks && a.least_count == b.least_count && a.most_count == b.most_count;
}

std::vector<Row> folded(const std::vector<StoredRegion>& regions, bool fold) {
  std::vector<Row> rows;
  for (const StoredRegion& region : regions) {
    if (fold && !rows.empty() && alike(rows.back().region, region)) {
      rows.back().region.bytes += region.bytes;
      rows.back().ids.push_back(region.id);
    } else {
      rows.push_back({region, {region.id}, {}});
    }
  }
  return rows;
}

const char* kind_of(const reader::StoredContent& content, const StoredRegion& region) {
  const auto* array = content.array(region.id);
  if (array == nullptr) return region.kind == segment::EntryKind::memory ? "local" : segment::kind_name(region.kind);
  switch (array->kind) {
    case segment::ArrayKind::global:
      return "array";
    case segment::ArrayKind::list:
      return "list";
    case segment::ArrayKind::replicated:
      return "replicated";
  }
  return "array";
}

std::string size_text(const reader::StoredContent& content, const StoredRegion& region) {
  if (const auto* array = content.array(region.id)) return extents_text(array->whole);
  const std::string least = std::to_string(region.least_count), most = std::to_string(region.most_count);
  return (least == most ? least : least + " to " + most) + (region.ranks > 1 ? " each" : "");
}

std::vector<std::string> numbers_of(const MemberStatistics& member) {
  const auto text = [](const auto& number) { return number ? number_text(*number) : std::string("-"); };
  return {text(member.least), text(member.most), text(member.mean), std::to_string(member.nans)};
}

std::string table_text(const reader::StoredContent& content, const std::vector<Row>& rows, bool statistics) {
  std::vector<Table::Column> columns = {{"REGION"},
                                        {"NAME"},
                                        {"KIND"},
                                        {"TYPE"},
                                        {"EXTENTS"},
                                        {"UNIT"},
                                        {"RANKS", Right::right},
                                        {"BYTES", Right::right}};
  for (const char* title : {"LEAST", "MOST", "MEAN", "NAN"})
    if (statistics) columns.push_back({title, Right::right});
  Table table(columns);
  for (const Row& row : rows) {
    const StoredRegion& region = row.region;
    std::vector<std::string> cells = {short_ranges(row.ids),        region.label.name.empty() ? "-" : region.label.name,
                                      kind_of(content, region),     type_text(region.type),
                                      size_text(content, region),   region.label.unit.empty() ? "-" : region.label.unit,
                                      std::to_string(region.ranks), base::format_bytes(region.bytes)};
    const bool one = row.members.size() == 1 && row.members.front().name.empty();
    if (one)
      for (auto& number : numbers_of(row.members.front())) cells.push_back(std::move(number));
    table.row(cells);
    for (const MemberStatistics& member : row.members) {
      if (one) break;
      cells.assign({"", "  " + (member.name.starts_with('.') ? member.name.substr(1) : member.name)});
      cells.resize(8);
      for (auto& number : numbers_of(member)) cells.push_back(std::move(number));
      table.row(cells);
    }
  }
  return table.text();
}

base::Json to_json(const reader::StoredContent& content, const Row& row, bool statistics) {
  const StoredRegion& region = row.region;
  base::Json json = {{"id", region.id},
                     {"name", region.label.name},
                     {"kind", kind_of(content, region)},
                     {"type", region.type.text()},
                     {"element_bytes", region.type.bytes()},
                     {"unit", region.label.unit},
                     {"description", region.label.description},
                     {"ranks", region.ranks},
                     {"bytes", region.bytes}};
  if (const auto* array = content.array(region.id)) {
    json["extents"] = base::Json::array();
    for (unsigned d = 0; d < array->whole.dimensions; ++d) json["extents"].push_back(array->whole.end[d]);
  } else {
    json["least_count"] = region.least_count;
    json["most_count"] = region.most_count;
  }
  if (!statistics) return json;
  json["statistics"] = base::Json::array();
  const auto number = [](const auto& value) { return value ? number_json(*value) : base::Json(); };
  for (const MemberStatistics& member : row.members)
    json["statistics"].push_back({{"member", member.name},
                                  {"values", member.values},
                                  {"least", number(member.least)},
                                  {"most", number(member.most)},
                                  {"mean", number(member.mean)},
                                  {"nans", member.nans}});
  return json;
}

base::Status examine(reader::StoredContent& content, std::vector<Row>& rows, Terminal& terminal) {
  std::uint64_t bytes = 0;
  for (const Row& row : rows) bytes += row.region.bytes;
  Progress progress(terminal, "reading", bytes);
  for (Row& row : rows) {
    const std::uint64_t before = progress.done();
    PERDURE_TRY(row.members, reader::statistics(content, row.region, [&](std::uint64_t some) { progress.add(some); }));
    progress.add(row.region.bytes -
                 std::min(row.region.bytes, progress.done() - before));  // bytes that were not looked at
  }
  return {};
}

}  // namespace

int show_regions(const std::string& checkpoint, const std::string& location, bool statistics, bool json,
                 Terminal& terminal) {
  auto open = open_content(checkpoint, location, terminal);
  if (!open) return report(terminal, open.error());
  reader::StoredContent& content = *open->content;
  const auto& id = content.id();
  auto rows = folded(content.regions(), !json && !statistics);
  if (statistics)
    if (auto read = examine(content, rows, terminal); !read) return report(terminal, read.error());
  if (!json) {
    std::uint64_t bytes = 0;
    for (const Row& row : rows) bytes += row.region.bytes;
    print(terminal.out, fmt::format("{}: {} region{} of {} rank{}, {}\n", base::printable(id.text()),
                                    content.regions().size(), content.regions().size() == 1 ? "" : "s", content.ranks(),
                                    content.ranks() == 1 ? "" : "s", base::format_bytes(bytes)));
    if (!rows.empty()) print(terminal.out, table_text(content, rows, statistics));
    return kGood;
  }
  base::Json regions = base::Json::array();
  for (const Row& row : rows) regions.push_back(to_json(content, row, statistics));
  print_json(terminal, {{"store", open->store->properties().location},
                        {"name", id.name},
                        {"version", id.version},
                        {"attempt", id.attempt.hex()},
                        {"ranks", content.ranks()},
                        {"regions", regions}});
  return kGood;
}

}  // namespace perdure::cli
