// perdure resume makes a captured process again, which continues where it was.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <atomic>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/launch_loop.hpp"
#include "cli/libraries.hpp"
#include "cli/process_arguments.hpp"
#include "cli/verb.hpp"
#include "inspect/checkpoints.hpp"
#include "os/thread.hpp"
#include "process/process_store.hpp"

namespace perdure::cli {
namespace {

struct ResumeArguments {
  std::string checkpoint, store, affinity;
  struct Manner {
    bool detach = false, lazy = false;
  };
  Manner manner;
  struct Place {
    bool again = false, name_space = false, of_others = false;
  };
  Place place;
  bool json = false, cut_back = false;
};

/// Skips signals from the terminal, because the terminal sends them to the whole group.
void pass_on(const siginfo_t& signal, pid_t process) {
  if (signal.si_signo > 0 && signal.si_signo != SIGCHLD && signal.si_code != SI_KERNEL)
    ::kill(process, signal.si_signo);
}

/// Passes signals on while pages come to a process that runs.
class PassedSignals {
 public:
  PassedSignals() = default;
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;
  ~PassedSignals() { over_ = true; }
  /// If the system refuses a thread, signals wait until all pages have come.
  void begin(pid_t process) {
    auto begun = os::Thread::start(
        "pass signals on", [this, process] { pass(process); }, [](const base::Error&) { return false; });
    if (begun) thread_ = std::move(*begun);
  }

 private:
  void pass(pid_t process) const {
    sigset_t set = LaunchSignals::all();
    sigdelset(&set, SIGCHLD);  // this signal is for the thread that waits for the program's end
    const timespec soon{0, 20'000'000};
    while (!over_) {
      siginfo_t information{};
      if (::sigtimedwait(&set, &information, &soon) > 0) pass_on(information, process);
    }
  }
  std::atomic<bool> over_{false};
  os::Thread thread_;
};

/// Prints that the program runs, as soon as it does.
void say_that_it_runs(const ResumeArguments& asked, const std::string& name, const process::ResumeReport& report,
                      const Terminal& terminal) {
  for (const auto& note : report.notes) print(terminal.err, "perdure: " + note + "\n");
  const std::size_t more = report.processes.size() - 1;
  const std::string others = more == 0 ? "" : fmt::format(" and {} more", more);
  if (!asked.json)
    print(terminal.err,
          fmt::format("perdure: {}@{} goes on as process {}{}: {} thread{}, {}, after {:.1f} ms\n", name,
                      report.version, report.process, others, report.threads, report.threads == 1 ? "" : "s",
                      base::format_bytes(report.page_bytes), report.seconds * 1e3));
  std::fflush(terminal.err);
}

base::Result<process::ResumeReport> resume_from_store(const ResumeArguments& asked, const CheckpointSpec& spec,
                                                      const Terminal& terminal) {
  PERDURE_TRY(const auto settings, settings_of_resume(asked.store, terminal));
  PERDURE_TRY(const auto affinity, affinity_choices(asked.affinity, terminal));
  PERDURE_TRY(auto store, process::ProcessStore::open(settings, nullptr, asked.manner.lazy));
  const std::int64_t version = spec.version ? static_cast<std::int64_t>(*spec.version) : PERDURE_LATEST;
  process::ResumeChoices choices;
  if (spec.branch) choices.branch = plan::branch_text(*spec.branch);
  choices.files.cut_back = asked.cut_back;
  choices.affinity = affinity;
  choices.outlives = asked.manner.detach;
  choices.lazy = asked.manner.lazy;
  choices.again = asked.place.again;
  choices.of_others = asked.place.of_others;
  choices.numbering = asked.place.name_space ? process::Numbering::itself : process::Numbering::itself_if_needed;
  PassedSignals signals;
  choices.runs = [&](const process::ResumeReport& report) {
    say_that_it_runs(asked, spec.name, report, terminal);
    if (asked.manner.lazy) signals.begin(report.process);
  };
  PERDURE_TRY(auto resumed, store.resume(spec.name, version, choices));
  (void)store.close();  // the program runs, whatever happens to the engine
  return resumed;
}

base::Json report_json(const std::string& name, const process::ResumeReport& report) {
  return {{"name", name},
          {"version", report.version},
          {"process", report.process},
          {"threads", report.threads},
          {"mappings", report.maps},
          {"page_bytes", report.page_bytes},
          {"seconds", report.seconds},
          {"complete_s", report.complete_s},
          {"processes", report.processes}};
}

/// Returns the status as a shell does: the program's, or 128 plus the signal that ended it. In a name space, its first
/// process has that status.
int wait_for(pid_t process, pid_t child) {
  const sigset_t set = LaunchSignals::all();
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0) return kCannot;
    siginfo_t information{};
    if (::sigwaitinfo(&set, &information) > 0) pass_on(information, process);
  }
}

int resume(const ResumeArguments& asked, Terminal& terminal) {
  const auto spec = parse_checkpoint(asked.checkpoint);
  if (!spec) return report(terminal, spec.error());
  const LaunchSignals signals;  // signals that other processes send us for the program
  const auto resumed = resume_from_store(asked, *spec, terminal);
  int status = kGood;
  if (!resumed) {
    status = report(terminal, resumed.error());
  } else {
    if (asked.json) print_json(terminal, report_json(spec->name, *resumed));
    std::fflush(terminal.out);
    if (!asked.manner.detach) status = wait_for(resumed->process, resumed->child);
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
  app.add_flag("--detach", arguments->manner.detach,
               "return when it runs; without this the status is its own, and signals are passed on to it");
  app.add_flag("--lazy", arguments->manner.lazy,
               "it runs as soon as it can, and its pages come afterwards, those first that it waits for; with --detach "
               "this returns when all of them are there");
  app.add_flag("--cut-back-files", arguments->cut_back, kCutBackHelp);
  app.add_flag(
      "--again", arguments->place.again,
      "although what was brought back of that name runs, here or on another machine: both write the same files");
  app.add_flag("--of-others", arguments->place.of_others, kOfOthersHelp);
  app.add_flag("--name-space", arguments->place.name_space,
               "its numbers are those of a name space of its own; so they are anyway where nobody may choose them");
  app.add_option(
         "--affinity", arguments->affinity,
         "what comes back of where it was: keep (threads and pages), cores, pages, none, reset (threads may run "
         "everywhere); by default the configured one (affinity)")
      ->check(CLI::IsMember({"keep", "cores", "pages", "none", "reset"}));
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return resume(*arguments, terminal); };
}

}  // namespace perdure::cli
