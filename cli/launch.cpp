// perdure launch starts a program that knows nothing of Perdure so that it can be captured. It captures the program on
// schedule, on request, and before the end of the allocation.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "cli/launch_loop.hpp"
#include "cli/process_arguments.hpp"
#include "process/facilities.hpp"
#include "process/program_start.hpp"

namespace perdure::cli {
namespace {

struct LaunchArguments {
  std::string name, store, every, json_file;
  std::vector<std::string> without;
  bool resume = false, again = false, tree = false, pre_copy = false;
  bool cut_back = false, of_others = false;  ///< for --resume
  unsigned increments = 0;
};

base::Status nothing_in_the_way(const std::string& program, const std::vector<process::Obstacle>& obstacles) {
  auto refused = process::refused(0, obstacles);
  if (refused) return {};
  base::Error error = refused.error();
  error.object = program;
  return base::fail(error);
}

base::Status children_may_be_captured(const std::string& program) {
  const std::string scope = process::trace_scope();
  if (process::may_trace_descendants(scope, process::own_capabilities())) return {};
  return base::fail(PERDURE_PERMISSION, program,
                    "kernel.yama.ptrace_scope is " + scope + ": what it starts itself may not be captured (--tree)",
                    "have CAP_SYS_PTRACE, or set that to 0; or launch it without --tree, where it starts nothing");
}

/// A program that can never be captured is refused before its first instruction.
base::Result<process::ProgramStart> prepared(const std::vector<std::string>& command, const std::set<int>& left_out) {
  PERDURE_TRY(const auto of_program, process::obstacles_of_program(command[0]));
  PERDURE_CHECK(nothing_in_the_way(command[0], of_program));
  PERDURE_TRY(auto start, process::ProgramStart::begin(command));
  PERDURE_TRY(const auto of_files, start.obstacles_of_its_files(left_out));
  PERDURE_CHECK(nothing_in_the_way(command[0], of_files));
  return start;
}

/// The running program, and the claim that tells others that it was brought back here.
struct Running {
  pid_t process = 0;
  std::shared_ptr<client::RunClaim> claim;
  bool is_tree = false;   ///< it had children
  bool is_first = false;  ///< it was begun anew
};

/// Brings back the newest image.
base::Result<Running> brought_back(const LaunchArguments& asked, process::ProcessStore& store, Terminal& terminal) {
  process::ResumeChoices choices;
  choices.again = asked.again;
  choices.of_others = asked.of_others;
  choices.files.cut_back = asked.cut_back;
  PERDURE_TRY(choices.affinity, affinity_choices("", terminal));
  PERDURE_TRY(auto resumed, store.resume(asked.name, PERDURE_LATEST, choices));
  for (const auto& note : resumed.notes) print(terminal.err, "perdure: " + note + "\n");
  print(terminal.err,
        fmt::format("perdure: {}@{} goes on as process {}\n", asked.name, resumed.version, resumed.process));
  return Running{resumed.process, std::move(resumed.claim), resumed.is_tree};
}

/// Gives the running process: brought back if that was asked for and there is an image, else begun anew.
base::Result<Running> running(const LaunchArguments& asked, process::ProcessStore& store, process::ProgramStart start,
                              Terminal& terminal) {
  const auto latest = store.session().latest(asked.name);
  const bool is_first = !latest && latest.error().code == PERDURE_NOT_FOUND;
  if (asked.resume && !is_first) {
    start.give_up();  // it may have the number that the image needs
    return brought_back(asked, store,
                        terminal);  // after a failure it does not begin anew: that would lose computed results
  }
  if (asked.resume)
    print(terminal.err, fmt::format("perdure: there is no image of {} yet: it begins anew\n", asked.name));
  if (latest && !asked.resume)
    print(terminal.err,
          fmt::format("perdure: it begins anew, although there is {}@{}; --resume would go on from that\n", asked.name,
                      *latest));
  PERDURE_CHECK(start.go());
  return Running{start.take(), {}, false, true};
}

base::Result<LaunchSummary> launch_it(const LaunchArguments& asked, Terminal& terminal) {
  std::set<int> left_out;
  for (const auto& one : asked.without) left_out.insert(descriptor_of(one));
  if (asked.tree) PERDURE_CHECK(children_may_be_captured(terminal.program[0]));
  PERDURE_TRY(auto start, prepared(terminal.program, left_out));
  const LaunchSignals signals;  // also signals of threads and of the guard
  std::vector<std::string> settings = settings_with(asked.store, terminal);
  if (asked.resume) {
    PERDURE_TRY(settings, settings_of_resume(asked.store, terminal));
  }
  PERDURE_TRY(auto store, process::ProcessStore::open(settings));
  PERDURE_TRY(const auto begun, running(asked, store, std::move(start), terminal));
  const double every_s = asked.every.empty() ? process::CaptureSchedule::kNever : seconds_of(asked.every);
  process::CaptureChoices choices{{begun.process, {left_out.begin(), left_out.end()}, false},
                                  asked.pre_copy,
                                  asked.tree || begun.is_tree,
                                  asked.increments,
                                  begun.is_first};
  PERDURE_TRY(choices.process.places, records_places("", terminal));
  LaunchLoop loop(store, {asked.name, choices, every_s}, terminal);
  auto summary = loop.run();
  if (const auto closed = store.close(); !closed) warn(terminal, closed.error());
  return summary;
}

int launch_program(LaunchArguments asked, Terminal& terminal) {
  if (terminal.program.empty())
    return report(terminal, {PERDURE_INVALID_ARGUMENT, "launch", "no program given",
                             "perdure launch [OPTIONS] -- PROGRAM [ARGUMENTS]; perdure launch --help", false});
  if (asked.name.empty()) asked.name = checkpoint_name(terminal.program[0]);
  const auto done = launch_it(asked, terminal);
  if (!done) return report(terminal, done.error());
  const base::Json json = {{"name", asked.name},
                           {"process", done->process},
                           {"status", done->status},
                           {"captured", done->captured_at_end},
                           {"versions", done->versions}};
  if (!asked.json_file.empty() && !write_json(json, asked.json_file))
    warn(terminal, base::errno_error(errno, "open", asked.json_file));
  return done->status;
}

}  // namespace

Action enrol_launch(CLI::App& app) {
  auto arguments = std::make_shared<LaunchArguments>();
  app.add_option("--every", arguments->every, "capture it so often: 90s, 10min, 2h; without this only when asked")
      ->check(time_text);
  app.add_option("--name", arguments->name, "of the checkpoints; by default that of the program's file");
  auto* resume =
      app.add_flag("--resume", arguments->resume, "go on from the newest image of that name, where there is one");
  app.add_flag("--again", arguments->again,
               "although another one that was brought back of that name runs: both write the same files")
      ->needs(resume);
  app.add_flag("--cut-back-files", arguments->cut_back, kCutBackHelp)->needs(resume);
  app.add_flag("--of-others", arguments->of_others, kOfOthersHelp)->needs(resume);
  app.add_flag("--tree", arguments->tree,
               "captures are of the program with its children and theirs: all stand still together, and end together");
  app.add_flag(
      "--pre-copy", arguments->pre_copy,
      "captures copy its pages while it runs, so that it stands still for those only that it writes meanwhile");
  app.add_option("--increments", arguments->increments, kIncrementsHelp)->check(CLI::Range(0U, kMostIncrements));
  app.add_option(
         "--force-without", arguments->without,
         "captures leave out this descriptor, which leads to /dev/null after a resume: fd:7; may be given again")
      ->check(descriptor_text);
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  app.add_option("--json", arguments->json_file, "write a summary to this file, for programs; -: to standard output");
  app.footer(
      "\nThe program and its arguments stand behind --: perdure launch --every 10min -- ./simulation input\n"
      "SIGUSR1 has it captured; SIGTERM, which batch systems send before the end, has it captured and ended: status "
      "0,\n"
      "and perdure launch --resume goes on; 143 where it could not be captured, however it ended itself. Other signals "
      "are\n"
      "passed on. Else it ends with the program's status.\n");
  return [arguments](Terminal& terminal) { return launch_program(*arguments, terminal); };
}

}  // namespace perdure::cli
