// perdure ls lists the checkpoints in a store, judged to manifest level; with --quarantine, the quarantined segments.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/libraries.hpp"
#include "cli/ls_target.hpp"
#include "cli/open_store.hpp"
#include "cli/verb.hpp"
#include "inspect/checkpoints.hpp"
#include "inspect/node_versions.hpp"
#include "inspect/residue.hpp"
#include "inspect/store_place.hpp"
#include "inspect/table.hpp"
#include "inspect/words.hpp"
#include "reader/branches.hpp"
#include "reader/inventory.hpp"

namespace perdure::cli {
namespace {

using Right = Table::Align;

struct LsArguments {
  std::string positional, option;
  bool json = false, quarantine = false;
};

/// The place of a version among those of its name.
struct VersionStanding {
  bool latest = false;  ///< the newest complete one of the current line
  bool left = false;    ///< on a branch that was left
};

struct Listing {
  std::vector<reader::VersionFacts> versions;
  std::vector<VersionStanding> standings = {};  ///< one for each version
  std::vector<Residue> quarantined = {};
  std::vector<NodeVersion> on_node = {};  ///< versions that the store does not have completely
};

// Finds nothing of a job whose store.path or name is another.
std::vector<NodeVersion> only_on_node(config::Config config, const std::string& location) {
  if (!config.set("store.path", location, config::Origin::command_line, "the store")) return {};
  return versions_not_stored(config);
}

/// Drops the versions that the store has by now.
void drop_stored(Listing& listing) {
  std::erase_if(listing.on_node, [&](const NodeVersion& one) {
    return std::any_of(listing.versions.begin(), listing.versions.end(),
                       [&](const auto& facts) { return facts.complete() && facts.listing.id == one.id; });
  });
}

bool is_directory(const std::string& path) {
  std::error_code error;
  return !path.empty() && std::filesystem::is_directory(path, error);
}

/// Adds all versions of a name.
base::Status add_versions(store::Store& store, const std::string& name, std::vector<reader::VersionFacts> versions,
                          Listing& listing) {
  std::vector<store::VersionListing> listed;
  for (const auto& facts : versions) listed.push_back(facts.listing);
  PERDURE_TRY(const reader::Branches branches, reader::branches_of(store, name, listed));
  std::optional<segment::Attempt> latest;
  for (const auto& facts : versions)
    if (facts.complete() && branches.has(facts.listing.id) && (!latest || *latest < facts.listing.id.attempt))
      latest = facts.listing.id.attempt;
  for (reader::VersionFacts& facts : versions) {
    const segment::VersionId& id = facts.listing.id;
    listing.standings.push_back({latest == id.attempt, !branches.has(id)});
    listing.versions.push_back(std::move(facts));
  }
  return {};
}

std::string standing_text(const VersionStanding& standing) {
  return standing.latest ? "latest" : standing.left ? "left branch" : "";
}

std::uint64_t quarantined_of(const Listing& listing, const segment::VersionId& id) {
  std::uint64_t count = 0;
  for (const Residue& residue : listing.quarantined) count += residue.name == id.name && residue.version == id.version;
  return count;
}

std::string describe(const reader::VersionFacts& facts) {
  std::string text = reader::state_name(facts.state);
  if (facts.complete()) return text;
  if (facts.state == reader::VersionFacts::State::renamed) return text + ": it was " + facts.said_name;
  if (facts.state == reader::VersionFacts::State::damaged) return text + ": " + facts.reason;
  if (!facts.missing_segments.empty()) text += ": segment " + facts.missing_segments + " missing";
  if (!facts.missing_ranks.empty()) text += ", rank " + facts.missing_ranks;
  return text;
}

base::Json to_json(const Listing& listing, const std::string& location) {
  base::Json checkpoints = base::Json::array();
  for (std::size_t i = 0; i < listing.versions.size(); ++i) {
    const reader::VersionFacts& facts = listing.versions[i];
    const auto& id = facts.listing.id;
    checkpoints.push_back({{"name", id.name},
                           {"version", id.version},
                           {"attempt", id.attempt.hex()},
                           {"branch", plan::branch_text(plan::branch_of(id.attempt.nonce))},
                           {"latest", listing.standings[i].latest},
                           {"left_branch", listing.standings[i].left},
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
  base::Json on_node = base::Json::array();
  for (const NodeVersion& one : listing.on_node)
    on_node.push_back({{"name", one.id.name},
                       {"version", one.id.version},
                       {"attempt", one.id.attempt.hex()},
                       {"bytes", one.bytes},
                       {"directory", one.directory}});
  return {{"store", location},
          {"checkpoints", checkpoints},
          {"quarantined", listing.quarantined.size()},
          {"on_node", on_node}};
}

std::string table(const Listing& listing) {
  Table table({{"NAME"},
               {"VERSION", Right::right},
               {"STATE"},
               {"RANKS", Right::right},
               {"SEGMENTS", Right::right},
               {"SIZE", Right::right},
               {"CREATED"},
               {"QUARANTINED", Right::right},
               {"BRANCH"},
               {""}});
  for (std::size_t i = 0; i < listing.versions.size(); ++i) {
    const reader::VersionFacts& facts = listing.versions[i];
    const auto& id = facts.listing.id;
    table.row({id.name, std::to_string(id.version), describe(facts), facts.ranks ? std::to_string(facts.ranks) : "?",
               std::to_string(facts.listing.segments.size()) + "/" + std::to_string(facts.listing.segment_count),
               base::format_bytes(facts.bytes), local_time(id.attempt.created_ns),
               std::to_string(quarantined_of(listing, id)), plan::branch_text(plan::branch_of(id.attempt.nonce)),
               standing_text(listing.standings[i])});
  }
  for (const NodeVersion& one : listing.on_node)
    table.row({one.id.name, std::to_string(one.id.version), "on this node, not stored", "?", "-",
               base::format_bytes(one.bytes), local_time(one.id.attempt.created_ns), "0",
               plan::branch_text(plan::branch_of(one.id.attempt.nonce)), ""});
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

void show(const Listing& listing, Terminal& terminal) {
  print(terminal.out, table(listing));
  if (!listing.quarantined.empty())
    print(terminal.out,
          std::to_string(listing.quarantined.size()) + " in quarantine; perdure ls --quarantine shows why\n");
  if (!listing.on_node.empty())
    print(terminal.out,
          "what is only on this node goes to the store while its program runs, or when it is started here again\n");
}

/// Reads versions of one name, or of all; a shared store's hidden versions only give a warning.
base::Status read_versions(store::Store& store, const std::vector<std::string>& names, Listing& listing,
                           Terminal& terminal) {
  for (const std::string& name : names) {
    auto versions = reader::inventory(store, name);
    if (!versions &&
        versions.error().code == PERDURE_PERMISSION) {  // other users of a shared store may hide their versions
      warn(terminal, versions.error());
      continue;
    }
    PERDURE_CHECK(versions);
    if (const auto error = reader::renamed(*versions)) warn(terminal, *error);
    PERDURE_CHECK(add_versions(store, name, std::move(*versions), listing));
  }
  return {};
}

base::Error unknown_name(store::Store& store, const std::string& name) {
  std::vector<std::string> names = store.names().value_or(std::vector<std::string>{});
  std::erase_if(names, [&](const std::string& one) {
    const auto listed = store.list(one);
    return !listed || listed->empty();
  });
  const std::string there = names.empty() ? "it has none" : "its names are " + enumerated(names);
  return {PERDURE_NOT_FOUND, name, "there is no such checkpoint in " + store.properties().location,
          there + "; there is no directory " + name + " here either", false};
}

/// Keeps in the listing, and in all names of the store, only `name`; empty: everything.
void keep_name(const std::string& name, std::vector<std::string>& names, Listing& listing) {
  if (name.empty()) return;
  std::erase_if(names, [&](const std::string& one) { return one != name; });
  std::erase_if(listing.quarantined, [&](const Residue& one) { return one.name != name; });
  std::erase_if(listing.on_node, [&](const NodeVersion& one) { return one.id.name != name; });
}

/// Says why no version was found; empty if there are some, or the store is empty.
std::optional<base::Error> why_nothing(store::Store& store, const LsTarget& target, const Listing& listing) {
  if (!listing.quarantined.empty() || !listing.versions.empty() || !listing.on_node.empty()) return std::nullopt;
  // Asked only if nothing is found: both list the whole store once more.
  return target.name.empty() ? not_a_store(store) : unknown_name(store, target.name);
}

int list(const LsArguments& arguments, Terminal& terminal) {
  const auto target = ls_target(arguments.positional, arguments.option, is_directory(arguments.positional));
  if (!target) return report(terminal, target.error());
  auto store = open_store(target->store, terminal);
  if (!store) return report(terminal, store.error());
  const std::string location = (*store)->properties().location;
  Listing listing;
  auto names = (*store)->names();
  auto quarantined = find_quarantined(**store);
  if (!names || !quarantined) return report(terminal, !names ? names.error() : quarantined.error());
  listing.quarantined = std::move(*quarantined);
  if (auto config = configuration(terminal)) listing.on_node = only_on_node(std::move(*config), location);
  keep_name(target->name, *names, listing);
  if (arguments.quarantine) {
    if (listing.quarantined.empty() && target->name.empty())
      if (const auto error = not_a_store(**store)) return report(terminal, *error);
    return show_quarantine(listing, location, arguments.json, terminal);
  }
  if (const auto read = read_versions(**store, *names, listing, terminal); !read) return report(terminal, read.error());
  drop_stored(listing);
  if (const auto error = why_nothing(**store, *target, listing)) return report(terminal, *error);
  if (arguments.json)
    print_json(terminal, to_json(listing, location));
  else
    show(listing, terminal);
  return kGood;
}

}  // namespace

Action enrol_ls(CLI::App& app) {
  auto arguments = std::make_shared<LsArguments>();
  app.add_option("STORE|NAME", arguments->positional,
                 "a store: a directory that is there, a path with a '/', or a URL; or else a NAME, to list only that");
  app.add_option("--store", arguments->option,
                 "the store; by default the configured one (store.path). The word beside it is a NAME");
  app.add_flag("--quarantine", arguments->quarantine, "list what failed verification and was set aside, and why");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return list(*arguments, terminal); };
}

}  // namespace perdure::cli
