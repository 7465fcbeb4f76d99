// perdure capture makes a checkpoint of a running program from outside.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <set>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/libraries.hpp"
#include "cli/process_arguments.hpp"
#include "cli/progress.hpp"
#include "cli/verb.hpp"
#include "os/system.hpp"
#include "process/process_store.hpp"

namespace perdure::cli {
namespace {

constexpr double kPatienceOfTheStopped_s = 30, kPatience_s = std::numeric_limits<double>::infinity();

struct CaptureArguments {
  std::int64_t process = 0;
  std::string name, store, affinity;
  std::vector<std::string> without;
  bool stop = false, json = false, hash = false, pre_copy = false, tree = false;
  unsigned increments = 0;
};

base::Json report_json(const CaptureArguments& asked, const process::CaptureReport& report) {
  return {{"name", asked.name},
          {"process", asked.process},
          {"version", report.version},
          {"threads", report.threads},
          {"mappings", report.maps},
          {"record_bytes", report.record_bytes},
          {"page_bytes", report.page_bytes},
          {"zero_bytes", report.zero_bytes},
          {"borrowed_bytes", report.borrowed_bytes},
          {"frozen_s", report.frozen_s},
          {"seize_s", report.seize_s},
          {"read_s", report.read_s},
          {"copy_s", report.copy_s},
          {"frozen_bytes", report.frozen_bytes},
          {"rounds", report.rounds},
          {"checkpoint_s", report.seconds},
          {"processes", report.processes}};
}

/// Returns when the store has all of it, or has taken no data for `patience_s`. A stopped process must not wait until
/// all retries are over.
base::Status wait_stored(process::ProcessStore& store, const std::string& name, const process::CaptureReport& report,
                         Terminal& terminal, double patience_s) {
  const std::uint64_t bytes = report.record_bytes + report.page_bytes;
  Progress progress(terminal, "storing", bytes);
  for (double last_s = 0;;) {
    const auto stored = store.session().wait(name, report.version, PERDURE_LEVEL_STORE, 0.05);
    if (stored || stored.error().code != PERDURE_TIMEOUT) return stored;
    perdure_progress known{};
    if (store.session().progress(known) && known.bytes_flushed > progress.done()) {
      progress.add(known.bytes_flushed - progress.done());
      last_s = progress.elapsed_s();
    }
    if (progress.elapsed_s() - last_s > patience_s)
      return base::fail(PERDURE_TIMEOUT, fmt::format("{}@{}", name, report.version),
                        fmt::format("the store has taken nothing of it for {:.0f} s: the process goes on", patience_s),
                        "look whether the store is full or away (perdure doctor), and try again", true);
  }
}

base::Result<process::CaptureReport> capture_and_store(const CaptureArguments& asked, Terminal& terminal) {
  const auto process = static_cast<pid_t>(asked.process);
  process::Guard::Wanted wanted{process, {}, asked.hash};
  for (const auto& dropped : asked.without) wanted.left_out.push_back(descriptor_of(dropped));
  PERDURE_TRY(wanted.places, records_places(asked.affinity, terminal));
  if (process == ::getpid())
    return base::fail(PERDURE_INVALID_ARGUMENT, "process " + std::to_string(process), "it is this one",
                      "name the process that is to be captured");
  // A process that cannot be captured leaves nothing in the store, either.
  const std::set<int> left_out(wanted.left_out.begin(), wanted.left_out.end());
  if (asked.tree) PERDURE_CHECK(process::look_at_tree(process, left_out));
  if (!asked.tree) PERDURE_CHECK(process::look_for_obstacles(process, left_out));
  PERDURE_TRY(auto store, process::ProcessStore::open(settings_with(asked.store, terminal)));
  // A process that is to be killed stands still until no part of its image can be lost.
  const auto stop = [&](const process::CaptureReport& report) -> base::Status {
    PERDURE_CHECK(wait_stored(store, asked.name, report, terminal, kPatienceOfTheStopped_s));
    return end_all(report);
  };
  process::CaptureChoices choices{wanted, asked.pre_copy, asked.tree, asked.increments};
  std::function<base::Status(const process::CaptureReport&)> then;
  if (asked.stop) then = stop;
  PERDURE_TRY(const auto report, store.capture(choices, asked.name, then));
  if (!asked.stop) PERDURE_CHECK(wait_stored(store, asked.name, report, terminal, kPatience_s));
  PERDURE_CHECK(store.close());
  return report;
}

int capture(CaptureArguments asked, Terminal& terminal) {
  if (asked.name.empty()) asked.name = name_of_process(static_cast<pid_t>(asked.process));
  const std::uint64_t begun = os::monotonic_ns();
  const auto done = capture_and_store(asked, terminal);
  if (!done) return report(terminal, done.error());
  const double all_s = static_cast<double>(os::monotonic_ns() - begun) * 1e-9;
  for (const auto& note : done->notes) print(terminal.err, "perdure: " + note + "\n");
  if (asked.json) {
    base::Json json = report_json(asked, *done);
    json["stored_s"] = all_s;
    json["stopped"] = asked.stop;
    print_json(terminal, json);
    return kGood;
  }
  const std::string others =
      done->processes.size() < 2 ? "" : fmt::format(" and {} others", done->processes.size() - 1);
  const std::string earlier = done->borrowed_bytes == 0
                                  ? ""
                                  : " beside " + base::format_bytes(done->borrowed_bytes) + " that earlier images have";
  print(terminal.out,
        fmt::format("{}@{}: process {}{} with {} thread{} and {} mappings, {}{}; it stood still for {:.1f} "
                    "ms{}, in the store after {:.2f} s\n",
                    asked.name, done->version, asked.process, others, done->threads, done->threads == 1 ? "" : "s",
                    done->maps, base::format_bytes(done->page_bytes), earlier, done->frozen_s * 1e3,
                    asked.stop ? " and was ended" : "", all_s));
  return kGood;
}

}  // namespace

Action enrol_capture(CLI::App& app) {
  auto arguments = std::make_shared<CaptureArguments>();
  app.add_option("PID", arguments->process, "number of the process; all of its threads are captured")
      ->required()
      ->check(whole_number)
      ->check(process_number);
  app.add_option("--name", arguments->name, "of the checkpoint; by default that of the program's file");
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  auto* stop = app.add_flag("--stop", arguments->stop, "end it once the image is in the store");
  app.add_flag("--leave-running")->description("it goes on; this is the default")->excludes(stop);
  app.add_option("--force-without", arguments->without,
                 "leave out this descriptor, which then leads to /dev/null: fd:7; may be given again")
      ->check(descriptor_text);
  app.add_flag("--pre-copy", arguments->pre_copy,
               "copy its pages while it runs, so that it stands still for those only that it writes meanwhile");
  app.add_flag("--tree", arguments->tree,
               "with its children and theirs: all stand still together, and come back together");
  app.add_option("--increments", arguments->increments, kIncrementsHelp)->check(CLI::Range(0U, kMostIncrements));
  app.add_option(
         "--affinity", arguments->affinity,
         "none: on which nodes of memory its pages are, and on what machine, is not recorded, so that no resume can "
         "bring it back there; keep: it is; by default the configured one (affinity)")
      ->check(CLI::IsMember({"keep", "none"}));
  app.add_flag("--hash-files", arguments->hash, "hash its open files, so that resume can tell whether they changed");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return capture(*arguments, terminal); };
}

}  // namespace perdure::cli
