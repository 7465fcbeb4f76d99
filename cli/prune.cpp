// perdure prune: gives up versions by policy or by name, and removes what killed jobs left. Says what it would do; does
// it with --yes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/configuration.hpp"
#include "cli/libraries.hpp"
#include "cli/open_store.hpp"
#include "cli/progress.hpp"
#include "cli/prune_outcome.hpp"
#include "cli/verb.hpp"
#include "inspect/audit.hpp"
#include "inspect/node_directories.hpp"
#include "inspect/residue.hpp"
#include "inspect/store_place.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

struct PruneArguments {
  std::vector<std::string> checkpoints;
  std::string store;
  std::uint64_t keep_last = 0, keep_every = 0;
  double min_age_s = 600, older_than_s = 0;
  std::optional<std::uint64_t> after;  ///< versions of the one name with higher numbers
  bool leftovers = false, node = false, yes = false, even_the_last = false, json = false;
  bool has_policy = false;
};

struct Wish {
  std::map<std::string, std::set<std::uint64_t>> removals;  ///< NAME@VERSION
  std::set<std::string> names;                              ///< NAME: the retention is limited to these
  std::map<std::string, std::uint64_t> rewound;             ///< NAME --after VERSION
  bool retention = false;                                   ///< without any other wish, the configured one
  bool store = false;                                       ///< something is to be done there
};

base::Result<Wish> wish_of(const PruneArguments& arguments) {
  Wish wish;
  for (const std::string& text : arguments.checkpoints) {
    PERDURE_TRY(const auto spec, parse_checkpoint(text));
    if (spec.version) {
      wish.removals[spec.name].insert(*spec.version);
    } else {
      wish.names.insert(spec.name);
    }
  }
  if (arguments.has_policy && !wish.removals.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, "prune", "retention and NAME@VERSION at once", "one after the other");
  if (arguments.after) {
    if (wish.names.size() != 1 || !wish.removals.empty() || arguments.has_policy)
      return base::fail(PERDURE_INVALID_ARGUMENT, "--after", "it is for one NAME, and nothing else goes with it",
                        "perdure prune NAME --after VERSION");
    wish.rewound.emplace(*wish.names.begin(), *arguments.after);
    wish.names.clear();
  }
  if (arguments.older_than_s > 0 && !arguments.node)
    return base::fail(PERDURE_INVALID_ARGUMENT, "--older-than", "it is about what dead engines left", "add --node");
  const bool removes = !wish.removals.empty() || !wish.rewound.empty();
  wish.retention =
      arguments.has_policy || (!removes && !arguments.leftovers && (!arguments.node || !wish.names.empty()));
  wish.store = wish.retention || arguments.leftovers || removes;
  return wish;
}

DeepCheck deep_check(store::Store& store, Terminal& terminal) {
  auto known = std::make_shared<std::map<segment::VersionId, bool>>();  // each version is read once
  return [&store, &terminal, known](const reader::VersionFacts& facts) {
    const auto [entry, fresh] = known->try_emplace(facts.listing.id, false);
    if (!fresh) return entry->second;
    AuditPlan plan{{facts.listing}, {}, facts.bytes};
    for (const reader::SegmentFacts& segment : facts.segments)
      plan.segments.push_back({segment.ref, facts.listing.id, segment.bytes});
    if (!plan_borrowed(store, plan)) return false;
    Progress progress(terminal, "verifying what stays", plan.bytes);
    const auto result = audit(store, plan, os::cpu_count(), [&](std::uint64_t bytes) { progress.add(bytes); });
    return entry->second = result.defects.empty() && result.incomplete.empty();
  };
}

double age_s(const std::string& path) {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(path, error);
  if (error) return 0;
  return std::chrono::duration<double>(std::filesystem::file_time_type::clock::now() - changed).count();
}

/// Temporary segments and unfinished removals. What changed lately may be a running job's.
base::Status plan_leftovers(store::Store& store, const PruneArguments& arguments, PrunePlan& plan) {
  PERDURE_TRY(const auto residue, find_residue(store));
  for (const Residue& piece : residue) {
    const bool temporary = piece.kind == Residue::Kind::temporary, retired = piece.kind == Residue::Kind::retired;
    if (!temporary && !retired) continue;
    if (temporary && age_s(piece.path) < arguments.min_age_s) {
      plan.refused.push_back(
          piece.path + fmt::format(" is kept: it changed less than {:.0f} s ago (--min-age)", arguments.min_age_s));
      continue;
    }
    const segment::VersionId id{piece.name, piece.version, piece.attempt};
    plan.actions.push_back(
        {piece.path, retired ? "a removal that was not finished" : "a segment whose writer is gone", piece.bytes,
         [&store, id] { return store.clean([id](const auto& other, std::uint32_t) { return other == id; }); }});
  }
  return {};
}

plan::RetentionPolicy policy_of(const PruneArguments& arguments, const Wish& wish, const config::Config& config) {
  if (!wish.retention) return {UINT64_MAX, 0};  // leftovers: only what is incomplete and superseded
  const auto keep_last = static_cast<std::uint64_t>(config.integer("retention.keep_last"));
  if (!arguments.has_policy) return {keep_last, static_cast<std::uint64_t>(config.integer("retention.keep_every"))};
  return {arguments.keep_last > 0 ? arguments.keep_last : keep_last, arguments.keep_every};
}

/// The versions with higher numbers than the one that was gone back to, which has to be there: what its number was
/// mistaken for would be given up with them.
base::Status plan_rewind(store::Store& store, const std::string& name, std::uint64_t version, const DeepCheck& check,
                         PrunePlan& plan) {
  PERDURE_TRY(const auto facts, reader::inventory(store, name));
  std::set<std::uint64_t> later;
  const reader::VersionFacts* from = nullptr;
  for (const reader::VersionFacts& one : facts) {
    if (one.listing.id.version == version && one.complete()) from = &one;
    if (one.listing.id.version > version) later.insert(one.listing.id.version);
  }
  if (from == nullptr) return base::fail(no_such_checkpoint(store, {name, version}));
  if (later.empty()) return {};
  if (check(*from)) return plan_removal(store, name, facts, later, false, check, plan);
  plan.refused.push_back(fmt::format("{} version {} is damaged: what comes after it is kept", name, version));
  return {};
}

/// Leaves out of `facts` what is incomplete and was begun less than `min_age_s` before `now_ns`: a running job may
/// bring the other parts, also after something newer is complete.
void keep_what_may_arrive(std::vector<reader::VersionFacts>& facts, std::uint64_t now_ns, double min_age_s,
                          PrunePlan& plan) {
  segment::Attempt newest;
  for (const reader::VersionFacts& one : facts)
    if (one.complete()) newest = std::max(newest, one.listing.id.attempt);
  std::erase_if(facts, [&](const reader::VersionFacts& one) {
    const segment::VersionId& id = one.listing.id;
    const double begun_s = (static_cast<double>(now_ns) - static_cast<double>(id.attempt.created_ns)) * 1e-9;
    if (one.state != reader::VersionFacts::State::incomplete || begun_s >= min_age_s) return false;
    if (id.attempt < newest)
      plan.refused.push_back(id.text() +
                             fmt::format(" is incomplete, and is kept: it was begun less than {:.0f} s ago, and "
                                         "its job may bring the other parts (--min-age)",
                                         min_age_s));
    return true;
  });
}

base::Status plan_store(store::Store& store, const PruneArguments& arguments, const Wish& wish,
                        const plan::RetentionPolicy& policy, const DeepCheck& check, PrunePlan& plan) {
  PERDURE_TRY(const auto names, store.names());
  for (const std::string& name : wish.names)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return base::fail(no_such_checkpoint(store, {name, std::nullopt}));
  for (const auto& [name, versions] : wish.removals) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return base::fail(no_such_checkpoint(store, {name, *versions.begin()}));
    PERDURE_TRY(const auto facts, reader::inventory(store, name));
    PERDURE_CHECK(plan_removal(store, name, facts, versions, arguments.even_the_last, check, plan));
  }
  for (const auto& [name, version] : wish.rewound) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return base::fail(no_such_checkpoint(store, {name, version}));
    PERDURE_CHECK(plan_rewind(store, name, version, check, plan));
  }
  for (const std::string& name : names) {
    if (!wish.retention && !arguments.leftovers) break;
    if (!wish.names.empty() && !wish.names.contains(name)) continue;
    PERDURE_TRY(auto facts, reader::inventory(store, name));
    keep_what_may_arrive(facts, os::wall_clock_ns(), arguments.min_age_s, plan);
    plan_retention(store, std::move(facts), policy, check, plan);
  }
  return arguments.leftovers ? plan_leftovers(store, arguments, plan) : base::Status{};
}

base::Status plan_nodes(const config::Config& config, double older_than_s, PrunePlan& plan) {
  PERDURE_TRY(const auto directories, find_node_directories(config));
  for (const NodeDirectory& directory : directories) {
    if (directory.alive) {
      plan.refused.push_back(directory.path + " is kept: its engine lives");
      continue;
    }
    if (directory.unused_s < older_than_s) {
      plan.refused.push_back(
          directory.path + fmt::format(" is kept: it was used {:.1f} h ago (--older-than)", directory.unused_s / 3600));
      continue;
    }
    plan.actions.push_back({directory.path, "its engine is gone; what it holds beyond the store is lost with it",
                            directory.bytes, [directory] { return remove_node_directory(directory); }});
  }
  return {};
}

int refuse(Terminal& terminal, const PruneArguments& arguments, const base::Error& error) {
  const int status = report(terminal, error);
  if (arguments.yes) print(terminal.err, "perdure: nothing was removed\n");
  return status;
}

int prune(const PruneArguments& arguments, Terminal& terminal) {
  auto config = configuration(terminal);
  if (!config) return report(terminal, config.error());
  auto wish = wish_of(arguments);
  if (!wish) return report(terminal, wish.error());
  PrunePlan plan;
  std::unique_ptr<store::Store> store;  // lives until the actions are done
  if (wish->store) {
    auto opened = open_store(arguments.store, terminal);
    if (!opened) return report(terminal, opened.error());
    store = std::move(*opened);
    const auto planned =
        plan_store(*store, arguments, *wish, policy_of(arguments, *wish, *config), deep_check(*store, terminal), plan);
    if (!planned) return refuse(terminal, arguments, planned.error());
    if (const auto other = plan.actions.empty() ? not_a_store(*store) : std::nullopt)
      return refuse(terminal, arguments, *other);
  }
  if (arguments.node)
    if (auto planned = plan_nodes(*config, arguments.older_than_s, plan); !planned)
      return report(terminal, planned.error());
  const int status = carry_out(plan, arguments.yes, arguments.json, terminal);
  return status == kGood && !(wish->removals.empty() && wish->rewound.empty()) && !plan.refused.empty() ? kBad : status;
}

}  // namespace

Action enrol_prune(CLI::App& app) {
  auto arguments = std::make_shared<PruneArguments>();
  app.add_option("NAME[@VERSION]", arguments->checkpoints,
                 "remove these versions; a NAME alone limits the retention to it");
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  auto* last = app.add_option("--keep-last", arguments->keep_last,
                              "keep the newest so many complete versions of each name; at least 1")
                   ->check(whole_number)
                   ->check(positive);
  auto* every =
      app.add_option("--keep-every", arguments->keep_every, "keep the multiples of this too")->check(whole_number);
  app.add_option_function<std::string>(
         "--after",
         [arguments](const std::string& text) { arguments->after = std::strtoull(text.c_str(), nullptr, 10); },
         "remove the versions of the one NAME with higher numbers than this, after going back to it; end the job "
         "before")
      ->check(whole_number);
  app.add_flag("--leftovers", arguments->leftovers,
               "remove what killed jobs left in the store: incomplete versions that are superseded, "
               "temporary segments, unfinished removals");
  app.add_option(
         "--min-age", arguments->min_age_s,
         "a running job may still write to incomplete versions that were begun, and temporary segments that changed, "
         "within so many seconds: they stay")
      ->capture_default_str()
      ->check(seconds);
  app.add_flag("--node", arguments->node, "remove what dead engines left on this machine");
  app.add_option_function<std::string>(
         "--older-than",
         [arguments](const std::string& text) { arguments->older_than_s = std::strtod(text.c_str(), nullptr); },
         "with --node: only what nobody has used for so many seconds")
      ->check(seconds);
  app.add_flag("--even-the-last", arguments->even_the_last, "NAME@VERSION may be the last verified version of NAME");
  app.add_flag("--yes", arguments->yes, "do it; without this, only say what would be done");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments, last, every](Terminal& terminal) {
    arguments->has_policy = last->count() > 0 || every->count() > 0;
    return prune(*arguments, terminal);
  };
}

}  // namespace perdure::cli
