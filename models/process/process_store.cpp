#include "process/process_store.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "comm/communicator.hpp"
#include "config/effective.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "process/any_target.hpp"
#include "process/held_process.hpp"
#include "process/machine_facts.hpp"
#include "store/ownership.hpp"

namespace perdure::process {
namespace {

double seconds_since(std::uint64_t begun_ns) { return static_cast<double>(os::monotonic_ns() - begun_ns) * 1e-9; }

/// Returns whether this user and this machine may resume it.
base::Status check(const ProcessImage& image) {
  PERDURE_TRY(const auto facts, facts_for(image));
  return may_resume(image, facts);
}

ResumeReport report_of(const AnyTarget& target, std::int64_t version, const client::RunClaim& claim) {
  ResumeReport report = target.report();
  report.version = version;
  if (!claim.note().empty()) report.notes.push_back(claim.note());
  return report;
}

std::optional<std::string_view> branch_of(const ResumeChoices& choices) {
  return choices.branch.empty() ? std::nullopt : std::optional<std::string_view>(choices.branch);
}

/// Checks that need nothing of the image.
base::Status may_begin(const config::Config& config, const std::string& name, const ResumeChoices& choices,
                       bool holds) {
  if (choices.lazy && !holds)
    return base::fail(PERDURE_INVALID_ARGUMENT, name, "this was opened for resumes that are not lazy");
  if (choices.of_others) return {};
  PERDURE_TRY(const auto store, store::make_store(config.text("store.path"), config.below("store.")));
  return store::check_ownership(*store, name, os::user_id());
}

base::Error ended_before_use(base::Error why) {
  why.cause += "; it ran already, and was killed before it saw anything that did not come";
  return why;
}

}  // namespace

base::Result<ProcessStore> ProcessStore::open(const std::vector<std::string>& settings, const char* options,
                                              bool holds) {
  std::optional<Guard> guard;
  if (holds) {
    PERDURE_TRY(auto started, Guard::start());  // before other threads start
    guard.emplace(std::move(started));
  }
  PERDURE_TRY(auto session, client::Session::open(comm::make_solo(), options, settings));
  PERDURE_TRY(auto config, config::effective_config(options, settings));
  return ProcessStore(std::move(guard), std::move(session), std::move(config));
}

base::Result<std::int64_t> ProcessStore::next_version(const std::string& name, bool new_program) {
  using Adopt = client::Session::Adopt;
  const auto latest = session_->latest(name, new_program ? Adopt::no : Adopt::yes);
  if (latest) return static_cast<std::int64_t>(*latest) + 1;
  const auto code = latest.error().code;
  if (code == PERDURE_NOT_FOUND || code == PERDURE_INCOMPLETE) return std::int64_t{1};
  return base::fail(latest.error());
}

// Numbers of damaged versions count as taken.
base::Result<CaptureReport> ProcessStore::capture(const CaptureChoices& choices, const std::string& name,
                                                  const std::function<base::Status(const CaptureReport&)>& then) {
  const std::uint64_t begun = os::monotonic_ns();
  if (!guard_) return base::fail(PERDURE_INVALID_ARGUMENT, name, "this was opened for resumes only");
  PERDURE_TRY(std::int64_t version, next_version(name, choices.new_program));
  std::unique_ptr<EarlierImage> earlier;
  if (choices.increments > 0) {
    PERDURE_TRY(earlier, EarlierImage::open(config_, name, choices.increments));
  }
  HeldProcess held(*guard_, choices, !then, earlier.get());
  base::Status done = session_->checkpoint(name, version, held);
  for (int tries = 0; !done && tries < 100; ++tries) {
    const bool whole = earlier && earlier->gave_up();  // the segments to borrow are gone, or cannot be borrowed
    if (!whole && done.error().code != PERDURE_EXISTS) break;
    if (!whole) ++version;
    done = session_->checkpoint(name, version, held);
  }
  PERDURE_CHECK(done);
  CaptureReport report = held.report();
  report.version = version;
  report.seconds = seconds_since(begun);
  os::crash_point(os::CrashPoint::process_copied);
  const base::Status after = then ? then(report) : base::Status();
  os::crash_point(os::CrashPoint::process_to_release);
  const base::Status released = held.release();
  os::crash_point(os::CrashPoint::process_released);
  report.frozen_s = held.frozen_s();
  PERDURE_CHECK(after);
  if (!released && released.error().code != PERDURE_NOT_FOUND) return base::fail(released.error());
  return report;
}

base::Status ProcessStore::wait_stored(const std::string& name, std::int64_t version) {
  return session_->wait(name, version, PERDURE_LEVEL_STORE, PERDURE_FOREVER);
}

base::Result<ResumeReport> ProcessStore::resume(const std::string& name, std::int64_t version,
                                                const ResumeChoices& choices) {
  const std::uint64_t begun = os::monotonic_ns();
  const auto choose = [&](ProcessImage& image, Operations& operations, bool is_root) {
    // Lets this process and its children capture it again, if users may trace at all (yama).
    operations.try_to({SYS_prctl, PR_SET_PTRACER, static_cast<std::uint64_t>(::getpid()), 0, 0, 0},
                      "say who may trace it");
    if (choices.outlives && is_root)
      for (ThreadImage& thread : image.threads) thread.death_signal = 0;
    return check(image);
  };
  PERDURE_CHECK(may_begin(config_, name, choices, guard_.has_value()));
  PERDURE_TRY(std::shared_ptr<client::RunClaim> claim, client::RunClaim::take(config_, name, choices.again));
  AnyTarget target(choose, choices);
  target.borrow_by(
      [&](const segment::VersionId& id, const Increment& increment) -> base::Result<std::unique_ptr<LenderPages>> {
        PERDURE_TRY(auto store, store::make_store(config_.text("store.path"), config_.below("store.")));
        return LenderPages::open(std::move(store), id, increment);
      });
  std::optional<ResumeReport> of_run;
  if (choices.lazy)
    target.be_lazy(*guard_, [&](const segment::VersionId& id) {
      of_run = report_of(target, static_cast<std::int64_t>(id.version), *claim);
      of_run->seconds = seconds_since(begun);
      if (choices.runs) choices.runs(*of_run);
    });
  const base::Status restored = session_->restore(name, version, target, branch_of(choices));
  if (!restored && target.runs() && !target.has_ended()) return base::fail(ended_before_use(restored.error()));
  if (!restored && !target.has_ended()) return base::fail(restored.error());
  PERDURE_CHECK(target.finish());
  perdure_progress progress{};
  (void)session_->progress(progress);
  ResumeReport report = of_run ? *of_run : report_of(target, progress.restored_version, *claim);
  claim->runs(report.process);
  PERDURE_CHECK(target.release());
  report.complete_s = seconds_since(begun);
  if (!of_run) report.seconds = report.complete_s;
  if (!of_run && choices.runs) choices.runs(report);
  if (choices.outlives)
    claim->leave();
  else
    report.claim = std::move(claim);
  return report;
}

}  // namespace perdure::process
