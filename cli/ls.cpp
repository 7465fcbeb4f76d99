// perdure ls: the checkpoints in a store, judged to manifest level; with --quarantine what was set aside.
#include <CLI/CLI.hpp>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "cli/open_store.hpp"
#include "cli/verb.hpp"
#include "inspect/residue.hpp"
#include "inspect/store_place.hpp"
#include "inspect/table.hpp"
#include "reader/inventory.hpp"

namespace perdure::cli {
namespace {

using Right = Table::Align;

struct LsArguments {
  std::string positional, option;
  bool json = false, quarantine = false;
};

struct Listing {
  std::vector<reader::VersionFacts> versions;
  std::vector<Residue> quarantined;
};

std::uint64_t quarantined_of(const Listing& listing, const segment::VersionId& id) {
  std::uint64_t count = 0;
  for (const Residue& residue : listing.quarantined) count += residue.name == id.name && residue.version == id.version;
  return count;
}

std::string describe(const reader::VersionFacts& facts) {
  std::string text = reader::state_name(facts.state);
  if (facts.complete()) return text;
  if (facts.state == reader::VersionFacts::State::damaged) return text + ": " + facts.reason;
  if (!facts.missing_segments.empty()) text += ": segment " + facts.missing_segments + " missing";
  if (!facts.missing_ranks.empty()) text += ", rank " + facts.missing_ranks;
  return text;
}

base::Json to_json(const Listing& listing, const std::string& location) {
  base::Json checkpoints = base::Json::array();
  for (const reader::VersionFacts& facts : listing.versions) {
    const auto& id = facts.listing.id;
    checkpoints.push_back({{"name", id.name},
                           {"version", id.version},
                           {"attempt", id.attempt.hex()},
                           {"state", reader::state_name(facts.state)},
                           {"reason", facts.reason},
                           {"ranks", facts.ranks},
                           {"segments", facts.listing.segments.size()},
                           {"segments_needed", facts.listing.segment_count},
                           {"missing_segments", facts.missing_segments},
                           {"missing_ranks", facts.missing_ranks},
                           {"bytes", facts.bytes},
                           {"created", local_time(id.attempt.created_ns)},
                           {"created_ns", id.attempt.created_ns},
                           {"quarantined", quarantined_of(listing, id)}});
  }
  return {{"store", location}, {"checkpoints", checkpoints}, {"quarantined", listing.quarantined.size()}};
}

std::string table(const Listing& listing) {
  Table table({{"NAME"},
               {"VERSION", Right::right},
               {"STATE"},
               {"RANKS", Right::right},
               {"SEGMENTS", Right::right},
               {"SIZE", Right::right},
               {"CREATED"},
               {"QUARANTINED", Right::right}});
  for (const reader::VersionFacts& facts : listing.versions) {
    const auto& id = facts.listing.id;
    table.row({id.name, std::to_string(id.version), describe(facts), facts.ranks ? std::to_string(facts.ranks) : "?",
               std::to_string(facts.listing.segments.size()) + "/" + std::to_string(facts.listing.segment_count),
               base::format_bytes(facts.bytes), local_time(id.attempt.created_ns),
               std::to_string(quarantined_of(listing, id))});
  }
  return table.empty() ? "no checkpoints\n" : table.text();
}

int show_quarantine(const Listing& listing, const std::string& location, bool json, Terminal& terminal) {
  base::Json pieces = base::Json::array();
  Table table({{"NAME"}, {"VERSION", Right::right}, {"SIZE", Right::right}, {"WHEN"}, {"WHY"}, {"FILE"}});
  for (const Residue& residue : listing.quarantined) {
    const std::string why = base::get_text(residue.report, "why", residue.path).value_or("no report");
    const std::string when = base::get_text(residue.report, "when", residue.path).value_or("");
    pieces.push_back({{"file", residue.path}, {"bytes", residue.bytes}, {"report", residue.report}});
    table.row(
        {residue.name, std::to_string(residue.version), base::format_bytes(residue.bytes), when, why, residue.path});
  }
  if (json) {
    print_json(terminal, {{"store", location}, {"quarantine", pieces}});
  } else {
    print(terminal.out, table.empty() ? "nothing in quarantine\n" : table.text());
  }
  return kGood;
}

int list(const LsArguments& arguments, Terminal& terminal) {
  auto store = open_store(arguments.positional.empty() ? arguments.option : arguments.positional, terminal);
  if (!store) return report(terminal, store.error());
  const std::string location = (*store)->properties().location;
  Listing listing;
  auto names = (*store)->names();
  auto quarantined = find_quarantined(**store);
  if (!names || !quarantined) return report(terminal, !names ? names.error() : quarantined.error());
  listing.quarantined = std::move(*quarantined);
  // Asked only where nothing is found: it lists the whole store once more.
  const auto other = [&] {
    const bool found = !listing.quarantined.empty() || !listing.versions.empty();
    return found ? std::nullopt : not_a_store(**store);
  };
  if (arguments.quarantine) {
    if (const auto error = other()) return report(terminal, *error);
    return show_quarantine(listing, location, arguments.json, terminal);
  }
  for (const std::string& name : *names) {
    auto versions = reader::inventory(**store, name);
    if (!versions && versions.error().code == PERDURE_PERMISSION) {  // in a shared store others may show nothing
      warn(terminal, versions.error());
      continue;
    }
    if (!versions) return report(terminal, versions.error());
    for (reader::VersionFacts& facts : *versions) listing.versions.push_back(std::move(facts));
  }
  if (const auto error = other()) return report(terminal, *error);
  if (arguments.json) {
    print_json(terminal, to_json(listing, location));
    return kGood;
  }
  print(terminal.out, table(listing));
  if (!listing.quarantined.empty())
    print(terminal.out,
          std::to_string(listing.quarantined.size()) + " in quarantine; perdure ls --quarantine shows why\n");
  return kGood;
}

}  // namespace

Action enrol_ls(CLI::App& app) {
  auto arguments = std::make_shared<LsArguments>();
  app.add_option("STORE", arguments->positional, "the store; by default the configured one (store.path)");
  app.add_option("--store", arguments->option, "the same as an option");
  app.add_flag("--quarantine", arguments->quarantine, "list what failed verification and was set aside, and why");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return list(*arguments, terminal); };
}

}  // namespace perdure::cli
