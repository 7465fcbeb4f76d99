// perdure import makes a version of a store from an HDF5 file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/open_store.hpp"
#include "cli/progress.hpp"
#include "cli/verb.hpp"
#include "portable/import_version.hpp"

namespace perdure::cli {
namespace {

struct ImportArguments {
  std::string file, checkpoint, to;
  bool json = false;
};

/// Opens a store for writing, if a job of this user would write into it. An empty directory is a store that has nothing
/// yet.
base::Result<std::unique_ptr<store::Store>> store_to_write(const std::string& location, const Terminal& terminal) {
  PERDURE_TRY(const auto config, configuration(terminal));
  PERDURE_TRY(auto store,
              store::make_store(location.empty() ? config.text("store.path") : location, config.below("store.")));
  PERDURE_CHECK(store->names());  // says so when there is no store
  return store;
}

base::Result<portable::Imported> import_file(const ImportArguments& arguments, Terminal& terminal) {
  PERDURE_TRY(const auto spec, parse_checkpoint(arguments.checkpoint));
  if (!spec.version)
    return base::fail(PERDURE_INVALID_ARGUMENT, arguments.checkpoint, "it says no version",
                      "NAME@VERSION: the version that the file becomes");
  if (spec.branch)
    return base::fail(PERDURE_INVALID_ARGUMENT, arguments.checkpoint, "it says a branch",
                      "NAME@VERSION: what is imported goes on with the current branch");
  PERDURE_TRY(const auto store, store_to_write(arguments.to, terminal));
  PERDURE_TRY(const std::uint64_t bytes, portable::hdf5_bytes(arguments.file));
  PERDURE_CHECK(store->prepare());  // makes a store of an empty directory; not if the file is refused
  Progress progress(terminal, "importing", 2 * bytes);
  return portable::import_hdf5(arguments.file, *store, spec.name, *spec.version,
                               [&](std::uint64_t done) { progress.add(done); });
}

}  // namespace

Action enrol_import(CLI::App& app) {
  auto arguments = std::make_shared<ImportArguments>();
  app.add_option("FILE", arguments->file, "an HDF5 file, of perdure export or of another program")->required();
  app.add_option("NAME@VERSION", arguments->checkpoint, "what it becomes; none of it may be there yet")->required();
  app.add_option("--to,--store", arguments->to, "the store; by default the configured one (store.path)");
  app.add_flag("--json", arguments->json, "for programs: what was written");
  return [arguments](Terminal& terminal) -> int {
    const auto imported = import_file(*arguments, terminal);
    if (!imported) return report(terminal, imported.error());
    const auto& [id, ranks, arrays, locals, bytes] = *imported;
    if (arguments->json)
      print_json(terminal, {{"version", id.text()},
                            {"attempt", id.attempt.hex()},
                            {"ranks", ranks},
                            {"arrays", arrays},
                            {"regions_of_ranks", locals},
                            {"bytes", bytes}});
    else
      print(terminal.out, fmt::format("{}: {} arrays and {} regions of {} ranks, {}, written, read back and verified\n",
                                      id.text(), arrays, locals, ranks, base::format_bytes(bytes)));
    return kGood;
  };
}

}  // namespace perdure::cli
