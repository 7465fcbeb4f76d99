// elastic_bench VERB measures arrays that ranks share, and prints one JSON object. bench/elastic/run starts it with
// different numbers of ranks.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "base/json.hpp"
#include "blocking.hpp"
#include "listing.hpp"
#include "planning.hpp"
#include "restoring.hpp"
#include "stencil.hpp"

namespace {

using namespace perdure;
using namespace perdure::elastic_bench;

struct Arguments {
  Blocking blocking;
  Restoring restoring;
  Stencil stencil;
  Planning planning;
  Listing listing;
  bool drained = false;
};

void add_places(CLI::App& verb, Places& places) {
  verb.add_option("--directory", places.directory, "of nodes, and of the store unless that is named")->required();
  verb.add_option("--store", places.store, "store.path");
  verb.add_option("--node", places.node, "name of what nodes keep in the directory; another one has nothing yet");
  verb.add_option("--set", places.more, "further options, key=value separated by semicolons");
}

void add_extents(CLI::App& verb, Restoring& restoring) {
  verb.add_option("--extents", restoring.extents, "of the array of f8, one for each dimension, separated by commas")
      ->delimiter(',')
      ->required()
      ->check(CLI::PositiveNumber);
}

void add_jobs(CLI::App& app, Arguments& all) {
  auto* blocking =
      app.add_subcommand("blocking", "a checkpoint of a part of an array beside one of a rank's own region");
  add_places(*blocking, all.blocking.places);
  blocking->add_option("--bytes", all.blocking.bytes, "of a rank")->transform(CLI::AsSizeValue(false));
  blocking->add_option("--boxes", all.blocking.boxes, "of a rank")->check(CLI::Range(1, 1'000'000));
  blocking->add_option("--repetitions", all.blocking.repetitions, "after one that does not count")
      ->check(CLI::Range(1, 1000));
  auto* write = app.add_subcommand("write", "writes a version, and ends by killing itself unless --drained");
  add_places(*write, all.restoring.places);
  add_extents(*write, all.restoring);
  write->add_flag("--drained", all.drained, "waits until it is at the store, and ends well");
  auto* restore = app.add_subcommand("restore", "restores it, compares all elements, and ends by killing itself");
  add_places(*restore, all.restoring.places);
  add_extents(*restore, all.restoring);
  restore->add_flag("--plain-read", all.restoring.beside_plain_read, "reads the store's files plainly, too");
}

void add_verbs(CLI::App& app, Arguments& all) {
  app.require_subcommand(1);
  add_jobs(app, all);
  auto* stencil = app.add_subcommand("stencil", "a Jacobi stencil that writes its field every few steps");
  add_places(*stencil, all.stencil.places);
  stencil->add_option("--output", all.stencil.output)->check(CLI::IsMember({"none", "shared-file", "perdure"}));
  stencil->add_option("--rows", all.stencil.rows)->check(CLI::Range(16, 1 << 24));
  stencil->add_option("--columns", all.stencil.columns)->check(CLI::Range(16, 1 << 24));
  stencil->add_option("--steps", all.stencil.steps)->check(CLI::PositiveNumber);
  stencil->add_option("--every", all.stencil.every)->check(CLI::PositiveNumber);
  auto* plan = app.add_subcommand("plan", "what a node of a large job has to read; without MPI");
  plan->add_option("--writers", all.planning.writers, "ranks")->check(CLI::Range(1, 1'000'000));
  plan->add_option("--readers", all.planning.readers, "ranks")->check(CLI::Range(1, 1'000'000));
  plan->add_option("--per-node", all.planning.per_node, "readers")->check(CLI::Range(1, 1024));
  plan->add_option("--nodes", all.planning.nodes, "so many are planned for")->check(CLI::PositiveNumber);
}

void add_listings(CLI::App& app, Arguments& all) {
  auto* versions = app.add_subcommand("versions", "makes a store of many small versions of one rank; without MPI");
  auto* list = app.add_subcommand("list", "lists it, and reads its files plainly, in turn; without MPI");
  for (auto* verb : {versions, list}) {
    verb->add_option("--store", all.listing.store, "its directory")->required();
    verb->add_option("--versions", all.listing.versions, "in it")->check(CLI::Range(1, 10'000'000));
  }
  list->add_option("--repetitions", all.listing.repetitions)->check(CLI::Range(1, 1000));
}

base::Result<base::Json> perform(const CLI::App& app, const Arguments& all, const micro::World& world) {
  if (app.got_subcommand("blocking")) return blocking(all.blocking, world);
  if (app.got_subcommand("write")) return write(all.restoring, world, all.drained);
  if (app.got_subcommand("restore")) return restore(all.restoring, world);
  return stencil(all.stencil, world);
}

int say(const base::Result<base::Json>& result, bool speaks) {
  if (!result && speaks) std::fprintf(stderr, "elastic_bench: %s\n", result.error().text().c_str());
  if (result && speaks) std::printf("%s\n", result->dump().c_str());
  std::fflush(stdout);
  return result ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments all;
  CLI::App app{"Arrays that ranks have together: what they cost and give, as JSON"};
  add_verbs(app, all);
  add_listings(app, all);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  if (app.got_subcommand("plan")) return say(plan_restore(all.planning), true);
  if (app.got_subcommand("versions")) return say(make_versions(all.listing), true);
  if (app.got_subcommand("list")) return say(list_versions(all.listing), true);
  const micro::World world(argc, argv);
  const auto result = perform(app, all, world);
  const int status = say(result, world.rank() == 0);
  const bool killed = app.got_subcommand("restore") || (app.got_subcommand("write") && !all.drained);
  if (status == 0 && killed) {
    micro::wait_quietly();
    ::raise(SIGKILL);
  }
  return status;
}
