// perdure prune removes versions by policy or by name, and leftovers of killed jobs. It says what it would do, and does
// it with --yes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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
#include "inspect/prune_node.hpp"
#include "inspect/prune_quarantine.hpp"
#include "inspect/residue.hpp"
#include "inspect/store_place.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

struct PruneArguments {
  std::vector<std::string> checkpoints;
  std::string store, job;
  std::uint64_t keep_last = 0, keep_every = 0;
  double min_age_s = 600, older_than_s = 0;
  std::optional<std::uint64_t> after;  ///< versions of the one name with higher numbers
  bool branches = false, leftovers = false, quarantine = false, node = false, yes = false, even_the_last = false,
       even_unstored = false;
  bool json = false;
  bool has_policy = false;
};

struct Wish {
  std::vector<VersionWish> removals;             ///< NAME@VERSION, NAME@BRANCH:VERSION
  std::set<std::string> names;                   ///< NAME: the retention is limited to these
  std::map<std::string, std::uint64_t> rewound;  ///< NAME --after VERSION
  bool retention = false;                        ///< without any other wish, the configured one
  bool store = false;                            ///< there is work in the store
};

base::Status check_node_words(const PruneArguments& arguments) {
  if (arguments.node) return {};
  const char* word = arguments.older_than_s > 0 ? "--older-than"
                     : arguments.even_unstored  ? "--even-unstored"
                     : !arguments.job.empty()   ? "--job"
                                                : nullptr;
  if (word == nullptr) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, word, "it is about what dead engines left", "add --node");
}

base::Result<Wish> named_wish(const PruneArguments& arguments) {
  Wish wish;
  for (const std::string& text : arguments.checkpoints) {
    PERDURE_TRY(const auto spec, parse_checkpoint(text));
    if (!spec.version) {
      wish.names.insert(spec.name);
      continue;
    }
    const auto known = std::find_if(wish.removals.begin(), wish.removals.end(), [&](const VersionWish& one) {
      return one.name == spec.name && one.branch == spec.branch;
    });
    if (known == wish.removals.end())
      wish.removals.push_back({spec.name, spec.branch, {*spec.version}});
    else
      known->versions.insert(*spec.version);
  }
  return wish;
}

base::Result<Wish> wish_of(const PruneArguments& arguments) {
  PERDURE_TRY(Wish wish, named_wish(arguments));
  if (arguments.has_policy && !wish.removals.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, "prune", "retention and NAME@VERSION at once", "one after the other");
  if (arguments.after) {
    if (wish.names.size() != 1 || !wish.removals.empty() || arguments.has_policy)
      return base::fail(PERDURE_INVALID_ARGUMENT, "--after", "it is for one NAME, and nothing else goes with it",
                        "perdure prune NAME --after VERSION");
    wish.rewound.emplace(*wish.names.begin(), *arguments.after);
    wish.names.clear();
  }
  PERDURE_CHECK(check_node_words(arguments));
  if (arguments.quarantine && !(wish.removals.empty() && wish.rewound.empty()))
    return base::fail(PERDURE_INVALID_ARGUMENT, "--quarantine", "it is for names, and not for their versions",
                      "one after the other");
  const bool removes = !wish.removals.empty() || !wish.rewound.empty();
  const bool other = removes || arguments.leftovers || arguments.branches || arguments.quarantine;
  if (arguments.node && (other || arguments.has_policy))
    return base::fail(PERDURE_INVALID_ARGUMENT, "--node",
                      "it is about what dead engines left on this machine, and removes nothing from a store",
                      "one after the other");
  if (arguments.node) return wish;
  wish.retention = arguments.has_policy || !other;
  wish.store = wish.retention || other;
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

/// Plans the removal of temporary segments and unfinished removals. Files that changed lately may be a running job's.
base::Status plan_leftovers(store::Store& store, const PruneArguments& arguments, PrunePlan& plan) {
  PERDURE_TRY(const auto residue, find_residue(store));
  for (const Residue& piece : residue) {
    const bool temporary = piece.kind == Residue::Kind::temporary, retired = piece.kind == Residue::Kind::retired;
    if (!temporary && !retired) continue;
    if (temporary && static_cast<double>(piece.age_ns) / 1e9 < arguments.min_age_s) {
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
  if (!wish.retention) return {UINT64_MAX, 0};  // leftovers: only versions that are incomplete and superseded
  const auto keep_last = static_cast<std::uint64_t>(config.integer("retention.keep_last"));
  if (!arguments.has_policy) return {keep_last, static_cast<std::uint64_t>(config.integer("retention.keep_every"))};
  return {arguments.keep_last > 0 ? arguments.keep_last : keep_last, arguments.keep_every};
}

/// Gives the version that would be a name's newest without the numbers above `version`, if it is on a branch that was
/// left. That branch would become the current one. Otherwise empty.
std::optional<segment::VersionId> left_newest(const NameFacts& facts, std::uint64_t version) {
  const segment::VersionId* newest = nullptr;
  for (const reader::VersionFacts& one : facts.versions) {
    const segment::VersionId& id = one.listing.id;
    const bool goes = facts.branches.has(id) && id.version > version;
    if (!goes && one.listing.all_present() && (newest == nullptr || newest->attempt < id.attempt)) newest = &id;
  }
  return newest == nullptr || facts.branches.has(*newest) ? std::nullopt : std::optional(*newest);
}

/// Plans to remove the versions with higher numbers than the one to go back to, which must exist. Otherwise a mistyped
/// number would remove the intended version with them.
base::Status plan_rewind(store::Store& store, const std::string& name, std::uint64_t version, const DeepCheck& check,
                         PrunePlan& plan) {
  PERDURE_TRY(const auto facts, name_facts(store, name));
  VersionWish later{name, std::nullopt, {}};
  const reader::VersionFacts* from = nullptr;
  for (const reader::VersionFacts& one : facts.versions) {
    if (!facts.branches.has(one.listing.id)) continue;
    if (one.listing.id.version == version && one.complete()) from = &one;
    if (one.listing.id.version > version) later.versions.insert(one.listing.id.version);
  }
  if (from == nullptr) return base::fail(no_such_checkpoint(store, {name, version}));
  if (later.versions.empty()) return {};
  if (const auto left = left_newest(facts, version)) {
    plan.refused.push_back(
        fmt::format("what comes after {} version {} is kept: {}, of a branch that was left, would "
                    "become the newest; perdure prune --branches {} first",
                    name, version, reader::branch_spec(*left), name));
    return {};
  }
  if (check(*from)) return plan_removal(store, later, facts, false, check, plan);
  plan.refused.push_back(fmt::format("{} version {} is damaged: what comes after it is kept", name, version));
  return {};
}

/// Leaves out of `facts` the incomplete versions that were begun less than `min_age_s` before `now_ns`. A running job
/// may bring the other parts, also after a newer version is complete.
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

/// Leaves out the versions that --branches removes already.
void drop_left(NameFacts& facts) {
  std::erase_if(facts.versions, [&](const auto& one) { return !facts.branches.has(one.listing.id); });
}

base::Status plan_store(store::Store& store, const PruneArguments& arguments, const Wish& wish,
                        const plan::RetentionPolicy& policy, const DeepCheck& check, PrunePlan& plan) {
  PERDURE_TRY(const auto names, store.names());
  if (arguments.quarantine) PERDURE_CHECK(plan_quarantine(store, wish.names, plan));
  const bool of_versions = wish.retention || arguments.leftovers || arguments.branches;
  for (const std::string& name : wish.names)
    if (of_versions && std::find(names.begin(), names.end(), name) == names.end())
      return base::fail(no_such_checkpoint(store, {name, std::nullopt}));
  for (const VersionWish& removal : wish.removals) {
    if (std::find(names.begin(), names.end(), removal.name) == names.end())
      return base::fail(no_such_checkpoint(store, {removal.name, *removal.versions.begin(), removal.branch}));
    PERDURE_TRY(const auto facts, name_facts(store, removal.name));
    PERDURE_CHECK(plan_removal(store, removal, facts, arguments.even_the_last, check, plan));
  }
  for (const auto& [name, version] : wish.rewound) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return base::fail(no_such_checkpoint(store, {name, version}));
    PERDURE_CHECK(plan_rewind(store, name, version, check, plan));
  }
  for (const std::string& name : names) {
    if (!of_versions) break;
    if (!wish.names.empty() && !wish.names.contains(name)) continue;
    auto known = name_facts(store, name);
    if (!known && known.error().code == PERDURE_MISMATCH && wish.names.empty()) {
      plan.refused.push_back(known.error().text() + "; it is kept");
      continue;
    }
    PERDURE_TRY(NameFacts facts, std::move(known));
    keep_what_may_arrive(facts.versions, os::wall_clock_ns(), arguments.min_age_s, plan);
    if (arguments.branches) plan_left_branches(store, facts, check, plan);
    if (!wish.retention && !arguments.leftovers) continue;
    if (arguments.branches) drop_left(facts);
    plan_retention(store, std::move(facts), policy, check, plan);
  }
  return arguments.leftovers ? plan_leftovers(store, arguments, plan) : base::Status{};
}

NodePrune node_prune(const PruneArguments& arguments, const Wish& wish) {
  NodePrune prune{wish.names, {}, {}, arguments.older_than_s, arguments.even_unstored};
  if (!arguments.job.empty()) prune.job = arguments.job;
  if (arguments.store.empty()) return prune;
  const bool is_url = arguments.store.find("://") != std::string::npos;
  prune.store = is_url ? arguments.store : os::absolute_path(arguments.store).value_or(arguments.store);
  return prune;
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
    if (auto planned = plan_node(*config, node_prune(arguments, *wish), plan); !planned)
      return report(terminal, planned.error());
  const int status = carry_out(plan, arguments.yes, arguments.json, terminal);
  return status == kGood && !(wish->removals.empty() && wish->rewound.empty()) && !plan.refused.empty() ? kBad : status;
}

void add_what_was_left(CLI::App& app, PruneArguments& arguments) {
  app.add_flag("--branches", arguments.branches,
               "remove the branches that were left, by a new start or by going back; a NAME limits it to that");
  app.add_flag("--leftovers", arguments.leftovers,
               "remove what killed jobs left in the store: incomplete versions that are superseded, "
               "temporary segments, unfinished removals");
  app.add_flag("--quarantine", arguments.quarantine,
               "remove what failed verification and was set aside, with its reports; a NAME limits it to that");
}

void add_node(CLI::App& app, const std::shared_ptr<PruneArguments>& arguments) {
  app.add_flag("--node", arguments->node,
               "remove what dead engines left on this machine, where their stores have it; NAME, --job and --store "
               "limit that");
  app.add_option("--job", arguments->job, "with --node: only what jobs of this name left");
  app.add_flag("--even-unstored", arguments->even_unstored,
               "with --node: also what the store lacks, which is lost with it");
  app.add_option_function<std::string>(
         "--older-than",
         [arguments](const std::string& text) { arguments->older_than_s = std::strtod(text.c_str(), nullptr); },
         "with --node: only what nobody has used for so many seconds, and of that also what the store lacks")
      ->check(seconds);
}

}  // namespace

Action enrol_prune(CLI::App& app) {
  auto arguments = std::make_shared<PruneArguments>();
  app.add_option("NAME[@VERSION]", arguments->checkpoints,
                 "remove these versions of the current branch, or of another one (NAME@BRANCH:VERSION); a NAME alone "
                 "limits the retention to it");
  app.add_option("--store", arguments->store,
                 "the store; by default the configured one (store.path), and with --node all of them");
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
  add_what_was_left(app, *arguments);
  app.add_option(
         "--min-age", arguments->min_age_s,
         "a running job may still write to incomplete versions that were begun, and temporary segments that changed, "
         "within so many seconds: they stay")
      ->capture_default_str()
      ->check(seconds);
  add_node(app, arguments);
  app.add_flag("--even-the-last", arguments->even_the_last, "NAME@VERSION may be the last verified version of NAME");
  app.add_flag("--yes", arguments->yes, "do it; without this, only say what would be done");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments, last, every](Terminal& terminal) {
    arguments->has_policy = last->count() > 0 || every->count() > 0;
    return prune(*arguments, terminal);
  };
}

}  // namespace perdure::cli
