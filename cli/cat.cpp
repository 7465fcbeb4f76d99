// perdure cat prints the elements of a region, or of a box of it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>

#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/open_content.hpp"
#include "cli/value_text.hpp"
#include "cli/verb.hpp"
#include "inspect/alike.hpp"
#include "reader/examine.hpp"
#include "reader/slabs.hpp"

namespace perdure::cli {
namespace {

constexpr std::uint64_t kOnATerminal = 1000;  // elements
constexpr std::uint64_t kAtOnce = 1 * base::MiB;
constexpr std::uint64_t kOnALine = 8;

struct CatArguments {
  std::string checkpoint, region, store, raw;
  std::uint32_t rank = 0;
  std::uint64_t most = 0;
  bool json = false, one_rank = false, limited = false;
};

/// The source of the elements: an array, or one rank's own region.
struct NamedRegion {
  const reader::StoredRegion* region = nullptr;
  const reader::StoredArray* array = nullptr;
  const reader::LocalRegion* local = nullptr;
  array::ElementType type;
  array::Box whole, box;
  std::string text() const { return region->text() + (local ? " of rank " + std::to_string(local->rank) : ""); }
};

base::Result<const reader::LocalRegion*> choose_rank(const reader::StoredContent& content,
                                                     const reader::StoredRegion& region, const CatArguments& asked) {
  std::vector<std::int64_t> ranks;
  const reader::LocalRegion* last = nullptr;
  for (const auto& local : content.locals()) {
    if (local.id != region.id || (asked.one_rank && local.rank != asked.rank)) continue;
    last = &local;
    ranks.push_back(local.rank);
  }
  const std::string object = content.id().text() + ", " + region.text();
  if (ranks.size() == 1) return last;
  if (!ranks.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "each rank has its own",
                      "--rank N chooses one; those that have it are " + short_ranges(ranks));
  return base::fail(PERDURE_NOT_FOUND, object, "rank " + std::to_string(asked.rank) + " has no such region",
                    "perdure show --regions shows how many ranks have it");
}

base::Result<NamedRegion> choose(const reader::StoredContent& content, const CatArguments& asked) {
  PERDURE_TRY(const auto spec, parse_region(asked.region));
  NamedRegion chosen;
  PERDURE_TRY(chosen.region, content.find(spec.region));
  chosen.array = content.array(chosen.region->id);
  const std::string object = content.id().text() + ", " + chosen.region->text();
  if (chosen.array == nullptr) {
    PERDURE_TRY(chosen.local, choose_rank(content, *chosen.region, asked));
    chosen.type = reader::type_of(*chosen.region, *chosen.local);
    chosen.whole = reader::box_of(*chosen.local);
  } else {
    if (asked.one_rank)
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "it is an array of all ranks, so that --rank means nothing",
                        "leave --rank out; a box in brackets chooses a part");
    chosen.type = chosen.array->type;
    chosen.whole = chosen.array->whole;
  }
  PERDURE_TRY(chosen.box, parse_box(spec.box.value_or(""), chosen.whole, object));
  return chosen;
}

/// Calls `take(box, bytes)` for slabs of the chosen box, in its order.
template <class Take>
base::Status for_each(reader::StoredContent& content, const NamedRegion& chosen, const array::Box& box, Take&& take) {
  std::vector<std::byte> buffer;
  const std::uint64_t bytes = std::max<std::uint64_t>(1, chosen.type.bytes());
  return reader::each_slab(box, kAtOnce / bytes, [&](const array::Box& slab) -> base::Status {
    buffer.resize(slab.elements() * chosen.type.bytes());
    auto read = chosen.array != nullptr ? content.read(*chosen.array, slab, buffer)
                                        : content.read_local(*chosen.local, slab.begin[0], buffer);
    return read ? take(slab, base::ConstByteSpan(buffer)) : read;
  });
}

/// Formats the elements as lines. Each row of the slab begins a new line.
std::string lines(const NamedRegion& chosen, const array::Box& slab, base::ConstByteSpan bytes) {
  const std::uint64_t size = chosen.type.bytes(), count = slab.elements();
  const std::uint64_t row = slab.dimensions == 0 ? 1 : slab.extent(slab.dimensions - 1);
  const std::uint64_t on_a_line = chosen.type.compound() ? 1 : kOnALine;
  std::vector<std::string> values;
  std::size_t width = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    values.push_back(element_text(chosen.type, bytes.subspan(i * size, size)));
    width = std::max(width, values.back().size());
  }
  std::string text;
  array::Index at = slab.begin;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t column = i % row;
    if (i > 0 && column == 0)
      for (unsigned d = slab.dimensions - 1; d > 0; --d) {
        if (++at[d - 1] < slab.end[d - 1]) break;
        at[d - 1] = slab.begin[d - 1];
      }
    if (slab.dimensions > 0) at[slab.dimensions - 1] = slab.begin[slab.dimensions - 1] + column;
    if (column % on_a_line == 0) text += (i == 0 ? "" : "\n") + index_text(at, slab.dimensions);
    text += fmt::format("  {:>{}}", values[i], on_a_line == 1 ? 0 : width);
  }
  return text + "\n";
}

int print_elements(reader::StoredContent& content, const NamedRegion& chosen, std::uint64_t most, Terminal& terminal) {
  const std::uint64_t all = chosen.box.elements(), shown = std::min(all, most);
  const auto& label = chosen.region->label;
  print(terminal.out,
        fmt::format("{}: {}{}, {} of {}\n", chosen.text(), type_text(chosen.type),
                    label.unit.empty() ? "" : " in " + label.unit, chosen.box.text(), extents_text(chosen.whole)));
  for (const array::Box& box : array::between(chosen.box, 0, shown)) {
    const auto read = for_each(content, chosen, box, [&](const array::Box& slab, base::ConstByteSpan bytes) {
      print(terminal.out, lines(chosen, slab, bytes));
      return base::Status();
    });
    if (!read) return report(terminal, read.error());
  }
  if (shown < all)
    print(terminal.out, fmt::format("{} of {} elements are not shown: --most N shows more, --raw FILE writes all\n",
                                    all - shown, all));
  return kGood;
}

int print_elements_json(reader::StoredContent& content, const NamedRegion& chosen, std::uint64_t most,
                        Terminal& terminal) {
  const std::uint64_t all = chosen.box.elements(), shown = std::min(all, most), size = chosen.type.bytes();
  base::Json values = base::Json::array(), begin = base::Json::array(), end = base::Json::array();
  for (unsigned d = 0; d < chosen.box.dimensions; ++d) {
    begin.push_back(chosen.box.begin[d]);
    end.push_back(chosen.box.end[d]);
  }
  for (const array::Box& box : array::between(chosen.box, 0, shown)) {
    const auto read = for_each(content, chosen, box, [&](const array::Box& slab, base::ConstByteSpan bytes) {
      for (std::uint64_t i = 0; i < slab.elements(); ++i)
        values.push_back(element_json(chosen.type, bytes.subspan(i * size, size)));
      return base::Status();
    });
    if (!read) return report(terminal, read.error());
  }
  base::Json json = {{"name", content.id().name},
                     {"version", content.id().version},
                     {"region", chosen.region->id},
                     {"region_name", chosen.region->label.name},
                     {"type", chosen.type.text()},
                     {"begin", begin},
                     {"end", end},
                     {"elements", all},
                     {"values", values}};
  if (chosen.local != nullptr) json["rank"] = chosen.local->rank;
  print_json(terminal, json);
  return kGood;
}

/// Writes the bytes of the box, packed.
int write_raw(reader::StoredContent& content, const NamedRegion& chosen, const std::string& path, Terminal& terminal) {
  const bool standard = path == "-";
  std::FILE* file = standard ? terminal.out : std::fopen(path.c_str(), "we");
  if (file == nullptr) return report(terminal, base::errno_error(errno, "open", path));
  auto outcome =
      for_each(content, chosen, chosen.box, [&](const array::Box&, base::ConstByteSpan bytes) -> base::Status {
        if (std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size()) return {};
        return base::fail(base::errno_error(errno, "write", path));
      });
  const bool closed = (standard ? std::fflush(file) : std::fclose(file)) == 0;
  if (outcome && !closed) outcome = base::fail(base::errno_error(errno, "write", path));
  if (outcome) return kGood;
  base::Error error = outcome.error();
  if (!standard) error.remedy += (error.remedy.empty() ? "" : "; ") + path + " has only a part of it now";
  return report(terminal, error);
}

int cat(const CatArguments& arguments, Terminal& terminal) {
  auto open = open_content(arguments.checkpoint, arguments.store, terminal);
  if (!open) return report(terminal, open.error());
  const auto chosen = choose(*open->content, arguments);
  if (!chosen) return report(terminal, chosen.error());
  if (!arguments.raw.empty()) return write_raw(*open->content, *chosen, arguments.raw, terminal);
  const int out = ::fileno(terminal.out);
  const bool to_terminal = out >= 0 && ::isatty(out) == 1;
  const std::uint64_t most = arguments.limited                ? arguments.most
                             : to_terminal && !arguments.json ? kOnATerminal
                                                              : ~std::uint64_t{0};
  if (arguments.json) return print_elements_json(*open->content, *chosen, most, terminal);
  return print_elements(*open->content, *chosen, most, terminal);
}

}  // namespace

Action enrol_cat(CLI::App& app) {
  auto arguments = std::make_shared<CatArguments>();
  app.add_option("NAME[@VERSION]", arguments->checkpoint, "the checkpoint; without a version its newest complete one")
      ->required();
  app.add_option("REGION[[BOX]]", arguments->region,
                 "name or number of a region, and which part: 'temperature[0:10, 5]'; ranges end before their end")
      ->required();
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  auto* rank =
      app.add_option("--rank", arguments->rank, "of a region that each rank has for itself")->check(whole_number);
  auto* most = app.add_option("--most", arguments->most, "how many elements to print; on a terminal 1000, else all")
                   ->check(whole_number);
  auto* raw = app.add_option("--raw", arguments->raw, "write the bytes to this file, '-' for standard output");
  app.add_flag("--json", arguments->json, "for programs")->excludes(raw);
  raw->excludes(most);
  return [arguments, rank, most](Terminal& terminal) {
    arguments->one_rank = rank->count() > 0;
    arguments->limited = most->count() > 0;
    return cat(*arguments, terminal);
  };
}

}  // namespace perdure::cli
