// perdure rename gives a checkpoint another name in its store. It says what is there, and does it with --yes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/libraries.hpp"
#include "cli/nobody_writes.hpp"
#include "cli/open_store.hpp"
#include "cli/progress.hpp"
#include "cli/verb.hpp"
#include "inspect/node_versions.hpp"
#include "inspect/rename_name.hpp"
#include "store/renamed.hpp"

namespace perdure::cli {
namespace {

constexpr const char* kNothing = "nothing was renamed";

struct RenameArguments {
  std::string old_name, new_name, store;
  bool yes = false, json = false;
};

/// An engine would bring them to the store under the old name.
base::Status check_nothing_on_node(const RenamePlan& plan, const std::string& location, const Terminal& terminal) {
  PERDURE_TRY(auto config, configuration(terminal));
  if (!config.set("store.path", location, config::Origin::command_line, "the store")) return {};
  for (const NodeVersion& one : versions_not_stored(config))
    if (one.id.name == plan.old_name)
      return base::fail(PERDURE_BUSY, one.id.text(), "it is on this machine only, in " + one.directory,
                        "start its job again, so that it goes to the store, or give it up: perdure prune --node " +
                            plan.old_name + " --even-unstored");
  return {};
}

base::Status check_owners(store::Store& store, const RenamePlan& plan, const Terminal& terminal) {
  for (const std::string& name : {plan.old_name, plan.new_name, store::aside_name(plan.new_name)})
    PERDURE_CHECK(check_that_nobody_writes(store, name, kNothing, terminal));
  return {};
}

/// Makes every check before the first effect.
base::Status do_it(store::Store& store, const RenamePlan& plan, Terminal& terminal) {
  PERDURE_CHECK(check_owners(store, plan, terminal));
  PERDURE_CHECK(check_nothing_on_node(plan, store.properties().location, terminal));
  {
    Progress progress(terminal, "verifying", plan.bytes);
    PERDURE_CHECK(check_sound(store, plan, [&](std::uint64_t bytes) { progress.add(bytes); }));
  }
  Progress progress(terminal, "renaming", 2 * plan.bytes);  // written, and read back
  return rename_stored(store, plan, [&](std::uint64_t bytes) { progress.add(bytes); });
}

void tell(const RenamePlan& plan, const RenameArguments& arguments, Terminal& terminal) {
  const auto count = plan.versions.size();
  if (arguments.json) {
    print_json(terminal, {{"done", arguments.yes},
                          {"old", plan.old_name},
                          {"new", plan.new_name},
                          {"directory", plan.directory},
                          {"versions", count},
                          {"segments", plan.segments},
                          {"bytes", plan.bytes}});
    return;
  }
  const std::string where =
      plan.source == RenameSource::old_name ? "" : fmt::format(", out of the directory {}", plan.directory);
  print(terminal.out, fmt::format("{} {} to {}: {} version{}, {}{}{}\n", plan.old_name,
                                  arguments.yes ? "renamed" : "would be renamed", plan.new_name, count,
                                  count == 1 ? "" : "s", base::format_bytes(plan.bytes), where,
                                  arguments.yes ? "" : "; every segment is written anew; --yes does it"));
}

int rename(const RenameArguments& arguments, Terminal& terminal) {
  auto store = open_store(arguments.store, terminal);
  if (!store) return report(terminal, store.error());
  const auto plan = plan_rename(**store, arguments.old_name, arguments.new_name);
  if (!plan && plan.error().code == PERDURE_NOT_FOUND)
    return report(terminal, no_such_checkpoint(**store, {arguments.old_name, std::nullopt}));
  if (!plan) return report(terminal, plan.error());
  if (arguments.yes)
    if (const auto done = do_it(**store, *plan, terminal); !done) return report(terminal, done.error());
  tell(*plan, arguments, terminal);
  return kGood;
}

}  // namespace

Action enrol_rename(CLI::App& app) {
  auto arguments = std::make_shared<RenameArguments>();
  app.add_option("OLD", arguments->old_name, "the checkpoint as its segments say, without a version")->required();
  app.add_option("NEW", arguments->new_name,
                 "its name from now on; or the name that its directory has got by hand already")
      ->required();
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  app.add_flag("--yes", arguments->yes, "do it; without this, only say what would be done");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return rename(*arguments, terminal); };
}

}  // namespace perdure::cli
