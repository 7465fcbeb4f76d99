// perdure diff compares the regions of two versions, element by element.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/json.hpp"
#include "base/printable.hpp"
#include "cli/libraries.hpp"
#include "cli/open_content.hpp"
#include "cli/progress.hpp"
#include "cli/value_text.hpp"
#include "cli/verb.hpp"
#include "inspect/table.hpp"
#include "reader/examine.hpp"
#include "segment/memory_entry.hpp"
#include "segment/region_pairing.hpp"

namespace perdure::cli {
namespace {

using reader::Difference;
using reader::StoredContent;
using reader::StoredRegion;
using Right = Table::Align;

constexpr std::size_t kMostDiffering = 100;  // lines

struct DiffArguments {
  std::string a, b, store, other_store;
  std::vector<std::string> regions;
  bool json = false;
};

/// Two regions that have the same name, or the same number, in both versions.
struct JoinedRegion {
  const StoredRegion* a = nullptr;
  const StoredRegion* b = nullptr;
  const StoredRegion& any() const { return a != nullptr ? *a : *b; }
};

struct RegionVerdict {
  JoinedRegion pair;
  Difference difference;
  unsigned dimensions = 0;
  std::string only_in;                                    ///< the side that has it
  std::string unlike;                                     ///< why the elements cannot be compared
  std::optional<std::uint32_t> first_rank, largest_rank;  ///< ranks of local regions
  bool equal() const { return only_in.empty() && unlike.empty() && difference.differing == 0; }
};

std::vector<segment::CalledRegion> called(const StoredContent& content) {
  std::vector<segment::CalledRegion> regions;
  for (const StoredRegion& one : content.regions()) regions.push_back({one.id, one.label.name});
  return regions;
}

/// Finds pairs as a restore would: by name if both have one, else by number.
std::vector<JoinedRegion> all_pairs(const StoredContent& a, const StoredContent& b) {
  const auto partners = segment::pair_regions(called(a), called(b));
  std::vector<JoinedRegion> pairs;
  std::vector<bool> paired(b.regions().size());
  for (std::size_t i = 0; i < partners.size(); ++i) {
    pairs.push_back({&a.regions()[i], nullptr});
    if (partners[i] == segment::kNoPartner) continue;
    pairs.back().b = &b.regions()[partners[i]];
    paired[partners[i]] = true;
  }
  for (std::size_t j = 0; j < paired.size(); ++j)
    if (!paired[j]) pairs.push_back({nullptr, &b.regions()[j]});
  return pairs;
}

base::Result<std::vector<JoinedRegion>> pairs_of(const StoredContent& a, const StoredContent& b,
                                                 const std::vector<std::string>& regions) {
  const auto all = all_pairs(a, b);
  if (regions.empty()) return all;
  std::vector<JoinedRegion> pairs;
  for (const std::string& region : regions) {
    const auto in_a = a.find(region), in_b = b.find(region);
    if (!in_a && !in_b) return base::fail(in_a.error());
    if (!in_a && in_a.error().code != PERDURE_NOT_FOUND) return base::fail(in_a.error());
    pairs.push_back(*std::find_if(all.begin(), all.end(),
                                  [&](const JoinedRegion& pair) { return in_a ? pair.a == *in_a : pair.b == *in_b; }));
  }
  return pairs;
}

/// Adds one rank's difference to the sum over all ranks. Keeps the first rank that differs, and the rank with the
/// largest difference.
void add(RegionVerdict& sum, const Difference& one, std::uint32_t rank) {
  Difference& all = sum.difference;
  all.elements += one.elements;
  all.differing += one.differing;
  all.nans += one.nans;
  if (one.first && !all.first) {
    all.first = one.first;
    sum.first_rank = rank;
  }
  if (!one.largest || (all.largest && *one.largest <= *all.largest)) return;
  all.largest = one.largest;
  all.largest_at = one.largest_at;
  all.largest_in = one.largest_in;
  sum.largest_rank = rank;
}

/// Reports ranks that one side lacks, or whose regions have other sizes, and compares the others.
base::Status compare_locals(StoredContent& a, StoredContent& b, RegionVerdict& verdict,
                            const reader::Advance& advance) {
  verdict.dimensions = 1;
  const auto unlike = [&](std::uint32_t rank, const std::string& what) {
    if (verdict.unlike.empty()) verdict.unlike = "rank " + std::to_string(rank) + ": " + what;
  };
  for (const auto& local : b.locals())
    if (local.id == verdict.pair.b->id && a.local(local.rank, verdict.pair.a->id) == nullptr)
      unlike(local.rank, "only in " + b.id().text());
  for (const auto& local : a.locals()) {
    if (local.id != verdict.pair.a->id) continue;
    const auto* other = b.local(local.rank, verdict.pair.b->id);
    if (other == nullptr) {
      unlike(local.rank, "only in " + a.id().text());
      continue;
    }
    const StoredRegion& typed = segment::is_mere_bytes(verdict.pair.a->type) ? *verdict.pair.b : *verdict.pair.a;
    const auto found = reader::difference(a, local, b, *other, reader::type_of(typed, local), advance);
    if (!found && found.error().code != PERDURE_MISMATCH) return base::fail(found.error());
    if (found) add(verdict, *found, local.rank);
    if (!found) unlike(local.rank, found.error().cause);
  }
  return {};
}

base::Result<RegionVerdict> judge(StoredContent& a, StoredContent& b, const JoinedRegion& pair,
                                  const reader::Advance& advance) {
  RegionVerdict verdict;
  verdict.pair = pair;
  if (pair.a == nullptr || pair.b == nullptr) {
    verdict.only_in = (pair.a != nullptr ? a : b).id().text();
    return verdict;
  }
  if (pair.a->array() != pair.b->array()) {
    const auto* what = pair.a->array() ? "an array in " : "of each rank in ";
    const auto* other = pair.a->array() ? "of each rank in " : "an array in ";
    verdict.unlike = what + a.id().text() + ", " + other + b.id().text();
    return verdict;
  }
  if (!pair.a->array()) {
    if (segment::of_other_type({pair.a->type, {}}, {pair.b->type, {}})) {
      verdict.unlike =
          "type " + pair.a->type.text() + " in " + a.id().text() + ", " + pair.b->type.text() + " in " + b.id().text();
      return verdict;
    }
    PERDURE_CHECK(compare_locals(a, b, verdict, advance));
    return verdict;
  }
  const auto& array = *a.array(pair.a->id);
  verdict.dimensions = array.whole.dimensions;
  auto found = reader::difference(a, array, b, *b.array(pair.b->id), advance);
  if (!found && found.error().code != PERDURE_MISMATCH) return base::fail(found.error());
  if (found) verdict.difference = std::move(*found);
  if (!found) verdict.unlike = found.error().cause;
  return verdict;
}

std::string place_text(const RegionVerdict& verdict, const array::Index& at, const std::optional<std::uint32_t>& rank) {
  return (rank ? "rank " + std::to_string(*rank) + " " : "") + index_text(at, verdict.dimensions);
}

std::string differing_text(const std::vector<RegionVerdict>& verdicts) {
  Table table({{"REGION"},
               {"ELEMENTS", Right::right},
               {"DIFFERENT", Right::right},
               {"FIRST AT"},
               {"LARGEST", Right::right},
               {"AT"},
               {"NOTE"}});
  std::size_t different = 0;
  for (const RegionVerdict& verdict : verdicts) {
    if (verdict.equal() || ++different > kMostDiffering) continue;
    const Difference& found = verdict.difference;
    std::string note = verdict.only_in.empty() ? verdict.unlike : "only in " + verdict.only_in;
    if (found.nans > 0) note += (note.empty() ? "" : "; ") + std::to_string(found.nans) + " with NaN on one side";
    const bool compared = found.elements > 0;
    table.row({verdict.pair.any().text().substr(7), compared ? std::to_string(found.elements) : "-",
               compared ? std::to_string(found.differing) : "-",
               found.first ? place_text(verdict, *found.first, verdict.first_rank) : "-",
               found.largest ? number_text(*found.largest) : "-",
               found.largest ? place_text(verdict, found.largest_at, verdict.largest_rank) +
                                   (found.largest_in.empty() ? "" : " " + found.largest_in)
                             : "-",
               note});
  }
  std::string text = table.empty() ? "" : table.text();
  if (different > kMostDiffering)
    text += fmt::format("and {} more that differ; --json shows all\n", different - kMostDiffering);
  return text + fmt::format("{} region{} equal, {} different\n", verdicts.size() - different,
                            verdicts.size() - different == 1 ? "" : "s", different);
}

base::Json to_json(const RegionVerdict& verdict) {
  const Difference& found = verdict.difference;
  const auto index = [&](const array::Index& at) {
    return base::Json(std::vector<std::uint64_t>(at.begin(), at.begin() + verdict.dimensions));
  };
  base::Json json = {{"region", verdict.pair.any().id}, {"region_name", verdict.pair.any().label.name},
                     {"equal", verdict.equal()},        {"elements", found.elements},
                     {"different", found.differing},    {"nans", found.nans}};
  if (!verdict.only_in.empty()) json["only_in"] = verdict.pair.a != nullptr ? "a" : "b";
  if (!verdict.unlike.empty()) json["unlike"] = verdict.unlike;
  if (found.first) json["first"] = index(*found.first);
  if (verdict.first_rank) json["first_rank"] = *verdict.first_rank;
  if (!found.largest) return json;
  json["largest"] = real_json(*found.largest);
  json["largest_at"] = index(found.largest_at);
  json["largest_member"] = found.largest_in;
  if (verdict.largest_rank) json["largest_rank"] = *verdict.largest_rank;
  return json;
}

base::Result<std::vector<RegionVerdict>> compare(StoredContent& a, StoredContent& b,
                                                 const std::vector<JoinedRegion>& pairs, Terminal& terminal) {
  std::uint64_t bytes = 0;
  for (const JoinedRegion& pair : pairs) bytes += pair.a != nullptr && pair.b != nullptr ? pair.a->bytes : 0;
  Progress progress(terminal, "comparing", bytes);
  std::vector<RegionVerdict> verdicts;
  for (const JoinedRegion& pair : pairs) {
    PERDURE_TRY(auto verdict, judge(a, b, pair, [&](std::uint64_t some) { progress.add(some); }));
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

int diff(const DiffArguments& arguments, Terminal& terminal) {
  auto a = open_content(arguments.a, arguments.store, terminal);
  if (!a) return report(terminal, a.error());
  auto b = open_content(arguments.b, arguments.other_store.empty() ? arguments.store : arguments.other_store, terminal);
  if (!b) return report(terminal, b.error());
  const auto pairs = pairs_of(*a->content, *b->content, arguments.regions);
  if (!pairs) return report(terminal, pairs.error());
  const auto verdicts = compare(*a->content, *b->content, *pairs, terminal);
  if (!verdicts) return report(terminal, verdicts.error());
  const bool equal =
      std::all_of(verdicts->begin(), verdicts->end(), [](const RegionVerdict& one) { return one.equal(); });
  if (!arguments.json) {
    print(terminal.out, differing_text(*verdicts));
    return equal ? kGood : kBad;
  }
  const auto side = [](const OpenContent& open) {
    const auto& id = open.content->id();
    return base::Json({{"store", open.store->properties().location},
                       {"name", id.name},
                       {"version", id.version},
                       {"attempt", id.attempt.hex()}});
  };
  base::Json regions = base::Json::array();
  for (const RegionVerdict& verdict : *verdicts) regions.push_back(to_json(verdict));
  print_json(terminal, {{"equal", equal}, {"a", side(*a)}, {"b", side(*b)}, {"regions", regions}});
  return equal ? kGood : kBad;
}

}  // namespace

Action enrol_diff(CLI::App& app) {
  auto arguments = std::make_shared<DiffArguments>();
  app.add_option("A[@VERSION]", arguments->a, "a checkpoint; without a version its newest complete one")->required();
  app.add_option("B[@VERSION]", arguments->b, "another one, or another version of it")->required();
  app.add_option("REGION", arguments->regions, "only these, by name or number");
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  app.add_option("--other-store", arguments->other_store, "the store of B, where that is another one");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return diff(*arguments, terminal); };
}

}  // namespace perdure::cli
