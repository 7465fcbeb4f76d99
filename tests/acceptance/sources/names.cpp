// Implements `perdure names`, the verb that the acceptance test of the layout adds: it lists the names of the
// checkpoints in a store.
#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "cli/open_store.hpp"
#include "cli/verb.hpp"

namespace perdure::cli {
namespace {

struct NamesArguments {
  std::string store;
  bool json = false;
};

int show_names(const NamesArguments& arguments, Terminal& terminal) {
  const auto store = open_store(arguments.store, terminal);
  if (!store) return report(terminal, store.error());
  const auto names = (*store)->names();
  if (!names) return report(terminal, names.error());
  if (arguments.json) print_json(terminal, {{"names", *names}});
  if (!arguments.json)
    for (const std::string& name : *names) print(terminal.out, name + "\n");
  return kGood;
}

}  // namespace

Action enrol_names(CLI::App& app) {
  auto arguments = std::make_shared<NamesArguments>();
  app.add_option("STORE", arguments->store, "the store; by default the configured one");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return show_names(*arguments, terminal); };
}

}  // namespace perdure::cli
