// perdure show: everything the manifests say about a checkpoint.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/inventory.hpp"
#include "cli/table.hpp"
#include "cli/verb.hpp"

namespace perdure::cli {
namespace {

using Right = Table::Align;

struct ShowArguments {
  std::string checkpoint, store;
  bool json = false, all = false;
};

base::Json piece_json(const segment::Piece& piece) {
  base::Json regions = base::Json::array(), chunks = base::Json::array();
  for (const auto& region : piece.regions)
    regions.push_back({{"id", region.id}, {"element_bytes", region.element_bytes}, {"count", region.count}});
  for (const auto& chunk : piece.chunks)
    chunks.push_back({{"offset", chunk.offset}, {"length", chunk.length}, {"hash", chunk.hash.hex()}});
  return {{"rank", piece.rank}, {"chunk_bytes", piece.chunk_bytes}, {"regions", regions}, {"chunks", chunks}};
}

base::Json to_json(const VersionFacts& facts, const std::string& location) {
  base::Json segments = base::Json::array();
  for (const SegmentFacts& segment : facts.segments) {
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
          {"created_ns", id.attempt.created_ns},
          {"state", state_name(facts.state)},
          {"reason", facts.reason},
          {"ranks", facts.ranks},
          {"segments_needed", facts.listing.segment_count},
          {"bytes", facts.bytes},
          {"segments", segments}};
}

void print_pieces(const segment::Manifest& manifest, Terminal& terminal) {
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
                   base::format_bytes(region.bytes())});
    for (std::size_t i = 0; i < piece.chunks.size(); ++i)
      chunks.row({rank, std::to_string(i), std::to_string(piece.chunks[i].offset),
                  std::to_string(piece.chunks[i].length), piece.chunks[i].hash.hex()});
  }
  print(terminal.out, regions.text() + chunks.text());
}

void print_version(const VersionFacts& facts, const std::string& location, Terminal& terminal) {
  const auto& id = facts.listing.id;
  print(terminal.out,
        id.text() + ": " + state_name(facts.state) + (facts.reason.empty() ? "" : " (" + facts.reason + ")") + "\n" +
            "  created " + local_time(id.attempt.created_ns) + ", attempt " + id.attempt.hex() + "\n  " +
            std::to_string(facts.ranks) + " ranks, " + std::to_string(facts.listing.segments.size()) + " of " +
            std::to_string(facts.listing.segment_count) + " segments, " + base::format_bytes(facts.bytes) + "\n");
  for (const SegmentFacts& segment : facts.segments) {
    print(terminal.out, "  segment " + std::to_string(segment.ref.index) + ": " +
                            printable(location + "/" + segment.ref.path) + ", " + base::format_bytes(segment.bytes) +
                            (segment.manifest ? ", by " + printable(segment.manifest->writer) : "") + "\n");
    if (segment.error) print(terminal.out, "    " + printable(segment.error->text()) + "\n");
    if (segment.manifest) print_pieces(*segment.manifest, terminal);
  }
}

/// The asked version in all its attempts; without a version the newest complete one, or else the newest.
std::vector<VersionFacts> choose(std::vector<VersionFacts> facts, const CheckpointSpec& spec, bool all) {
  if (all && !spec.version) return facts;
  std::vector<VersionFacts> chosen;
  if (spec.version) {
    for (auto& one : facts)
      if (one.listing.id.version == *spec.version) chosen.push_back(std::move(one));
  } else if (!facts.empty()) {
    auto newest = std::find_if(facts.rbegin(), facts.rend(), [](const auto& one) { return one.complete(); });
    chosen.push_back(newest == facts.rend() ? facts.back() : *newest);
  }
  return chosen;
}

int show(const ShowArguments& arguments, Terminal& terminal) {
  auto spec = parse_checkpoint(arguments.checkpoint);
  if (!spec) return report(terminal, spec.error());
  auto store = open_store(arguments.store);
  if (!store) return report(terminal, store.error());
  const std::string location = (*store)->properties().location;
  auto facts = inventory(**store, spec->name);
  if (!facts && facts.error().code != PERDURE_NOT_FOUND) return report(terminal, facts.error());
  const auto chosen = choose(facts ? std::move(*facts) : std::vector<VersionFacts>{}, *spec, arguments.all);
  if (chosen.empty())
    return report(terminal, {PERDURE_NOT_FOUND, arguments.checkpoint, "no such checkpoint in " + location,
                             "perdure ls " + location + " lists what is there", false});
  base::Json versions = base::Json::array();
  for (const VersionFacts& one : chosen) {
    if (arguments.json) {
      versions.push_back(to_json(one, location));
    } else {
      print_version(one, location, terminal);
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
  app.add_flag("--all", arguments->all, "every version of NAME");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return show(*arguments, terminal); };
}

}  // namespace perdure::cli
