// perdure show prints everything the manifests say about a checkpoint.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/libraries.hpp"
#include "cli/open_store.hpp"
#include "cli/show_regions.hpp"
#include "cli/show_text.hpp"
#include "cli/verb.hpp"
#include "reader/branches.hpp"
#include "reader/inventory.hpp"
#include "segment/entry_codec.hpp"

namespace perdure::cli {
namespace {

struct ShowArguments {
  std::string checkpoint, store;
  std::uint32_t rank = 0;
  bool json = false, all = false, verbose = false, one_rank = false, regions = false, statistics = false;
};

base::Json piece_json(const segment::Piece& piece) {
  base::Json regions = base::Json::array(), chunks = base::Json::array();
  for (const auto& region : piece.regions) {
    base::Json entry = {{"id", region.id}, {"element_bytes", region.element_bytes}, {"count", region.count}};
    if (!region.plain()) entry["kind"] = segment::kind_name(region.kind);
    if (!region.attributes.empty()) entry["attributes"] = segment::to_json(region.attributes);
    regions.push_back(std::move(entry));
  }
  for (const auto& chunk : piece.chunks)
    chunks.push_back({{"offset", chunk.offset}, {"length", chunk.length}, {"hash", chunk.hash.hex()}});
  return {{"rank", piece.rank}, {"chunk_bytes", piece.chunk_bytes}, {"regions", regions}, {"chunks", chunks}};
}

base::Json to_json(const reader::VersionFacts& facts, const std::string& location) {
  base::Json segments = base::Json::array();
  for (const reader::SegmentFacts& segment : facts.segments) {
    base::Json json = {
        {"path", location + "/" + segment.ref.path}, {"index", segment.ref.index}, {"bytes", segment.bytes}};
    if (segment.error) json["error"] = error_json(*segment.error);
    if (segment.manifest) {
      json["writer"] = segment.manifest->writer;
      json["pieces"] = base::Json::array();
      for (const auto& piece : segment.manifest->pieces) json["pieces"].push_back(piece_json(piece));
    }
    segments.push_back(std::move(json));
  }
  const auto& id = facts.listing.id;
  return {{"name", id.name},
          {"version", id.version},
          {"attempt", id.attempt.hex()},
          {"branch", plan::branch_text(plan::branch_of(id.attempt.nonce))},
          {"created_ns", id.attempt.created_ns},
          {"state", reader::state_name(facts.state)},
          {"reason", facts.reason},
          {"ranks", facts.ranks},
          {"segments_needed", facts.listing.segment_count},
          {"bytes", facts.bytes},
          {"segments", segments}};
}

/// Keeps only the data of `rank`; false when it has none.
bool keep_rank(reader::VersionFacts& facts, std::uint32_t rank) {
  for (reader::SegmentFacts& segment : facts.segments)
    if (segment.manifest)
      std::erase_if(segment.manifest->pieces, [&](const auto& piece) { return piece.rank != rank; });
  std::erase_if(facts.segments, [](const reader::SegmentFacts& segment) {
    return !segment.manifest || segment.manifest->pieces.empty();
  });
  return !facts.segments.empty();
}

base::Error no_such_rank(const reader::VersionFacts& facts, std::uint32_t rank) {
  const std::string there = facts.ranks > 0 ? "; its ranks are 0 to " + std::to_string(facts.ranks - 1) : "";
  return {PERDURE_NOT_FOUND, facts.listing.id.text() + ", rank " + std::to_string(rank),
          "no segment that can be read holds it" + there, "perdure show without --rank shows what is there", false};
}

/// Gives the requested version in all its attempts on the current line, or on that of its branch. Without a version,
/// gives the newest complete one, or else the newest.
base::Result<std::vector<reader::VersionFacts>> choose(store::Store& store, std::vector<reader::VersionFacts> facts,
                                                       const CheckpointSpec& spec, bool all) {
  if (all && !spec.version) return facts;
  std::vector<store::VersionListing> listings;
  for (const auto& one : facts) listings.push_back(one.listing);
  PERDURE_TRY(const reader::Branches branches, reader::branches_of(store, spec.name, listings));
  std::erase_if(facts, [&](const auto& one) {
    return !branches.has(one.listing.id, spec.branch) || (spec.version && one.listing.id.version != *spec.version);
  });
  if (spec.version || facts.empty()) return facts;
  // A later attempt is newer, and a complete one is newer than an incomplete one.
  const auto newest = std::max_element(facts.begin(), facts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.complete(), a.listing.id.attempt) < std::pair(b.complete(), b.listing.id.attempt);
  });
  return std::vector<reader::VersionFacts>{std::move(*newest)};
}

int show(const ShowArguments& arguments, Terminal& terminal) {
  auto spec = parse_checkpoint(arguments.checkpoint);
  if (!spec) return report(terminal, spec.error());
  auto store = open_store(arguments.store, terminal);
  if (!store) return report(terminal, store.error());
  const std::string location = (*store)->properties().location;
  auto facts = reader::inventory(**store, spec->name);
  if (!facts && facts.error().code != PERDURE_NOT_FOUND) return report(terminal, facts.error());
  auto found = choose(**store, facts ? std::move(*facts) : std::vector<reader::VersionFacts>{}, *spec, arguments.all);
  if (!found) return report(terminal, found.error());
  auto& chosen = *found;
  if (chosen.empty()) return report(terminal, no_such_checkpoint(**store, *spec));
  if (const auto error = reader::renamed(chosen)) return report(terminal, *error);
  base::Json versions = base::Json::array();
  for (reader::VersionFacts& one : chosen) {
    reader::read_pieces(**store, one, arguments.one_rank ? std::optional(arguments.rank) : std::nullopt);
    if (arguments.one_rank && !keep_rank(one, arguments.rank))
      return report(terminal, no_such_rank(one, arguments.rank));
    if (arguments.json) {
      versions.push_back(to_json(one, location));
    } else {
      const bool whole = arguments.verbose || arguments.one_rank;
      print(terminal.out, whole ? whole_text(one, location) : folded_text(one, location));
    }
  }
  if (arguments.json) print_json(terminal, {{"store", location}, {"versions", versions}});
  return kGood;
}

}  // namespace

Action enrol_show(CLI::App& app) {
  auto arguments = std::make_shared<ShowArguments>();
  app.add_option("NAME[@VERSION]", arguments->checkpoint, "the checkpoint; without a version its newest complete one")
      ->required();
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  auto* all = app.add_flag("--all", arguments->all, "every version of NAME");
  auto* verbose = app.add_flag("--verbose", arguments->verbose, "every rank, region and chunk");
  auto* rank = app.add_option("--rank", arguments->rank, "regions and chunks of this rank")->check(whole_number);
  auto* regions = app.add_flag("--regions", arguments->regions, "arrays and regions, whatever ranks stored them")
                      ->excludes(all)
                      ->excludes(verbose)
                      ->excludes(rank);
  app.add_flag("--statistics", arguments->statistics,
               "with --regions: read them all, and show what their numbers are like")
      ->needs(regions);
  app.add_flag("--json", arguments->json, "for programs: everything");
  return [arguments, rank](Terminal& terminal) {
    if (arguments->regions)
      return show_regions(arguments->checkpoint, arguments->store, arguments->statistics, arguments->json, terminal);
    arguments->one_rank = rank->count() > 0;
    return show(*arguments, terminal);
  };
}

}  // namespace perdure::cli
