// perdure inspect shows the contents of a process, running or captured, and the obstacles to its capture.
#include <CLI/CLI.hpp>
#include <limits>

#include "cli/arguments.hpp"
#include "cli/inspected.hpp"
#include "cli/topology_xml.hpp"

namespace perdure::cli {
namespace {

struct InspectArguments {
  std::string what, store;
  bool json = false, topology = false;
};

base::Result<Inspected> look(const InspectArguments& asked, const Terminal& terminal) {
  if (!whole_number(asked.what).empty()) return inspect_image(asked.what, asked.store, terminal);
  const long long number = std::atoll(asked.what.c_str());
  if (number < 1 || number > std::numeric_limits<pid_t>::max())
    return base::fail(PERDURE_INVALID_ARGUMENT, asked.what, "no process has this number",
                      "a checkpoint with such a name is typed with its version: " + asked.what + "@1");
  return inspect_process(static_cast<pid_t>(number));
}

int inspect_it(const InspectArguments& asked, Terminal& terminal) {
  const auto inspected = look(asked, terminal);
  if (!inspected) return report(terminal, inspected.error());
  if (asked.topology && !inspected->machine.known())
    return report(terminal, {PERDURE_NOT_FOUND, asked.what, "the machine that it ran on is not known", "", false});
  if (asked.topology) {
    print(terminal.out, topology_xml(inspected->machine));
    return kGood;
  }
  if (asked.json)
    print_json(terminal, json_of(*inspected));
  else
    print(terminal.out, text_of(*inspected));
  return inspected->obstacles.empty() ? kGood : kBad;
}

}  // namespace

Action enrol_inspect(CLI::App& app) {
  auto arguments = std::make_shared<InspectArguments>();
  app.add_option("PID|NAME[@VERSION]", arguments->what,
                 "a running process, which is not touched, or an image; without a version the newest one that is whole")
      ->required();
  app.add_option("--store", arguments->store, "the store of the image; by default the configured one (store.path)");
  auto* json = app.add_flag("--json", arguments->json, "for programs");
  app.add_flag("--topology", arguments->topology,
               "only the machine, as XML of hwloc: cores, hardware threads, nodes of memory and their distances; "
               "lstopo --input FILE shows it")
      ->excludes(json);
  app.footer("\nEnds with 1 when something stands in the way of a capture, or of a resume on this machine.\n");
  return [arguments](Terminal& terminal) { return inspect_it(*arguments, terminal); };
}

}  // namespace perdure::cli
