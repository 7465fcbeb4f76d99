// perdure forget deliberately makes a name a first start again. It says what is there, and does it with --yes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/libraries.hpp"
#include "cli/nobody_writes.hpp"
#include "cli/open_store.hpp"
#include "cli/prune_outcome.hpp"
#include "cli/verb.hpp"
#include "os/system.hpp"
#include "reader/inventory.hpp"

namespace perdure::cli {
namespace {

struct ForgetArguments {
  std::string name, store;
  bool yes = false, json = false;
};

std::string what_is_there(const std::string& name, const std::vector<reader::VersionFacts>& versions,
                          std::size_t aside) {
  const auto complete = std::count_if(versions.begin(), versions.end(), [](const auto& v) { return v.complete(); });
  std::string text = fmt::format("{}: {} complete version{}", name, complete, complete == 1 ? "" : "s");
  if (complete > 0) {
    const auto last = std::find_if(versions.rbegin(), versions.rend(), [](const auto& v) { return v.complete(); });
    text += fmt::format(" (up to {})", last->listing.id.version);
  }
  const auto others = static_cast<std::ptrdiff_t>(versions.size()) - complete;
  if (others > 0) text += fmt::format(", {} that cannot be restored", others);
  if (aside > 0) text += fmt::format(", {} segment{} set aside", aside, aside == 1 ? "" : "s");
  return text;
}

// The clock may be behind those of the nodes that wrote: every known version is forgotten.
std::uint64_t until(std::uint64_t now_ns, const std::vector<reader::VersionFacts>& versions,
                    const std::vector<store::QuarantinedSegment>& aside) {
  for (const auto& version : versions) now_ns = std::max(now_ns, version.listing.id.attempt.created_ns);
  for (const auto& segment : aside) now_ns = std::max(now_ns, segment.id.attempt.created_ns);
  return now_ns;
}

base::Result<PrunePlan> plan_forgetting(store::Store& store, const std::string& name) {
  PERDURE_TRY(const auto names, store.names());
  PERDURE_TRY(const auto aside, store.set_aside(name));
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  if (!known && aside.empty()) return base::fail(no_such_checkpoint(store, {name, std::nullopt}));
  std::vector<reader::VersionFacts> versions;
  if (known) {
    PERDURE_TRY(versions, reader::inventory(store, name));
  }
  std::uint64_t bytes = 0;
  for (const auto& version : versions) bytes += version.bytes;
  PrunePlan plan;
  plan.actions.push_back({what_is_there(name, versions, aside.size()), "forgotten on request", bytes,
                          [&store, name, until_ns = until(os::wall_clock_ns(), versions, aside)] {
                            return store.forget(name, until_ns);
                          }});
  return plan;
}

int forget(const ForgetArguments& arguments, Terminal& terminal) {
  auto store = open_store(arguments.store, terminal);
  if (!store) return report(terminal, store.error());
  auto plan = plan_forgetting(**store, arguments.name);
  if (!plan) return report(terminal, plan.error());
  if (arguments.yes)
    if (const auto free = check_that_nobody_writes(**store, arguments.name, "nothing was forgotten", terminal); !free)
      return report(terminal, free.error());
  return carry_out(*plan, arguments.yes, arguments.json, terminal);
}

}  // namespace

Action enrol_forget(CLI::App& app) {
  auto arguments = std::make_shared<ForgetArguments>();
  app.add_option("NAME", arguments->name, "the checkpoint, without a version")->required();
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  app.add_flag("--yes", arguments->yes, "do it; without this, only say what is there");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return forget(*arguments, terminal); };
}

}  // namespace perdure::cli
