// perdure resume: a captured process goes on where it was.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/launch_loop.hpp"
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/checkpoints.hpp"
#include "process/process_store.hpp"

namespace perdure::cli {
namespace {

struct ResumeArguments {
  std::string checkpoint, store, affinity;
  bool detach = false, json = false, cut_back = false;
};

/// As the command line says, else as configured.
base::Result<process::AffinityChoices> affinity_of(const ResumeArguments& asked, const Terminal& terminal) {
  std::string mode = asked.affinity;
  if (mode.empty()) {
    PERDURE_TRY(const auto config, configuration(terminal));
    mode = config.text("affinity");
  }
  return process::AffinityChoices{process::affinity_mode(mode).value_or(process::AffinityMode::keep)};
}

base::Result<process::ResumeReport> resume_from_store(const ResumeArguments& asked, const CheckpointSpec& spec,
                                                      const Terminal& terminal) {
  std::vector<std::string> settings = terminal.settings;
  if (!asked.store.empty()) settings.push_back("store.path=" + asked.store);
  PERDURE_TRY(const auto affinity, affinity_of(asked, terminal));
  PERDURE_TRY(auto store, process::ProcessStore::open(settings, false));
  const std::int64_t version = spec.version ? static_cast<std::int64_t>(*spec.version) : PERDURE_LATEST;
  process::ResumeChoices choices;
  choices.files.cut_back = asked.cut_back;
  choices.affinity = affinity;
  choices.outlives = asked.detach;
  PERDURE_TRY(const auto resumed, store.resume(spec.name, version, choices));
  (void)store.close();  // it runs, whatever becomes of the engine
  return resumed;
}

base::Json report_json(const std::string& name, const process::ResumeReport& report) {
  return {{"name", name},
          {"version", report.version},
          {"process", report.process},
          {"threads", report.threads},
          {"mappings", report.maps},
          {"page_bytes", report.page_bytes},
          {"seconds", report.seconds}};
}

/// As a shell does: its status, or 128 and the signal that ended it.
int wait_for(pid_t process) {
  const sigset_t set = LaunchSignals::all();
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0) return kCannot;
    siginfo_t information{};
    const int signal = ::sigwaitinfo(&set, &information);
    // What a terminal sends it sends to all of the group.
    const bool from_terminal = information.si_code == SI_KERNEL;
    if (signal > 0 && signal != SIGCHLD && !from_terminal) ::kill(process, signal);
  }
}

int resume(const ResumeArguments& asked, Terminal& terminal) {
  const auto spec = parse_checkpoint(asked.checkpoint);
  if (!spec) return report(terminal, spec.error());
  const LaunchSignals signals;  // those that somebody sends to us to have the program end, or do something
  const auto resumed = resume_from_store(asked, *spec, terminal);
  int status = kGood;
  if (!resumed) {
    status = report(terminal, resumed.error());
  } else {
    for (const auto& note : resumed->notes) print(terminal.err, "perdure: " + note + "\n");
    if (asked.json) {
      print_json(terminal, report_json(spec->name, *resumed));
    } else {
      print(terminal.err,
            fmt::format("perdure: {}@{} goes on as process {}: {} thread{}, {}, after {:.1f} ms\n", spec->name,
                        resumed->version, resumed->process, resumed->threads, resumed->threads == 1 ? "" : "s",
                        base::format_bytes(resumed->page_bytes), resumed->seconds * 1e3));
    }
    std::fflush(terminal.out);
    if (!asked.detach) status = wait_for(resumed->process);
  }
  return status;
}

}  // namespace

Action enrol_resume(CLI::App& app) {
  auto arguments = std::make_shared<ResumeArguments>();
  app.add_option("NAME[@VERSION]", arguments->checkpoint,
                 "the image; without a version the newest that can be had whole")
      ->required();
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  app.add_flag("--detach", arguments->detach,
               "return when it runs; without this the status is its own, and signals are passed on to it");
  app.add_flag("--cut-back-files", arguments->cut_back,
               "files that it had open for writing and that have grown get the size they had");
  app.add_option(
         "--affinity", arguments->affinity,
         "what comes back of where it was: keep (threads and pages), cores, pages, none, reset (threads may run "
         "everywhere); by default the configured one (affinity)")
      ->check(CLI::IsMember({"keep", "cores", "pages", "none", "reset"}));
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return resume(*arguments, terminal); };
}

}  // namespace perdure::cli
