#include "cli/check_protection.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/json.hpp"
#include "cli/check_protection_place.hpp"
#include "cli/check_protection_report.hpp"
#include "cli/libraries.hpp"
#include "inspect/check_protection_compare.hpp"
#include "inspect/checkpoints.hpp"
#include "node/directories.hpp"
#include "os/file.hpp"

namespace perdure::cli {
namespace {

constexpr const char* kCheckObject = "check of protection";
enum WhichRun : unsigned { kUndisturbed = 1, kRestored = 2, kAgain = 3 };

/// One check: its place, and the facts so far.
class CheckRuns {
 public:
  CheckRuns(const ProtectionCheck& request, Supervisor& supervisor)
      : request_(request), supervisor_(supervisor), input_at_(::lseek(STDIN_FILENO, 0, SEEK_CUR)) {}

  base::Result<CheckFacts> find_out();

 private:
  base::Result<std::unique_ptr<store::Store>> store_of(WhichRun run) const;
  base::Result<plan::ProgramEnd> launch(WhichRun run, const std::string& what);
  base::Status go_on() const;
  base::Status wait_for_engines(const config::Config& config);
  base::Status offer_early_versions();
  base::Result<Comparison> compare(WhichRun other, bool both_ended_well) const;
  std::vector<std::string> restored() const;

  const ProtectionCheck& request_;
  Supervisor& supervisor_;
  off_t input_at_;  ///< in a standard input that can be read again; else -1
  std::unique_ptr<CheckPlace> place_;
  std::vector<std::string> offered_;  ///< versions for the second run
  CheckFacts facts_;
};

base::Result<std::unique_ptr<store::Store>> CheckRuns::store_of(WhichRun run) const {
  PERDURE_TRY(const auto config, place_->for_run(run));
  PERDURE_TRY(auto store, store::make_store(config.text("store.path"), config.below("store.")));
  PERDURE_CHECK(store->prepare());
  return store;
}

/// The supervisor takes signals, so this asks it: an error when one asked to stop.
base::Status CheckRuns::go_on() const {
  if (!supervisor_.sleep(0)) return {};
  return base::fail(PERDURE_UNAVAILABLE, kCheckObject, "stopped on request", "start it again");
}

base::Result<plan::ProgramEnd> CheckRuns::launch(WhichRun run, const std::string& what) {
  PERDURE_CHECK(go_on());
  PERDURE_TRY(const auto config, place_->for_run(run));
  PERDURE_TRY([[maybe_unused]] const auto prepared, store_of(run));
  Launch launch{request_.command, environment_of(config)};
  if (request_.nodes != nullptr) {
    PERDURE_TRY(launch, request_.nodes->launch_on_nodes(launch));
  }
  if (input_at_ >= 0) (void)::lseek(STDIN_FILENO, input_at_, SEEK_SET);
  request_.announce(fmt::format("{}: run {}, {}", kCheckObject, static_cast<unsigned>(run), what));
  const plan::ProgramEnd end = supervisor_.run(launch.command, launch.environment);
  if (end.kind == plan::ProgramEnd::Kind::not_started)
    return base::fail(PERDURE_NOT_FOUND, request_.command.front(), end_text(end), "name a program behind --");
  if (end.stop_requested) return base::fail(PERDURE_UNAVAILABLE, kCheckObject, "stopped on request", "start it again");
  PERDURE_CHECK(wait_for_engines(config));
  return end;
}

/// Its own engines (perdured) still flush when the program has ended, and end when they have nothing more to do.
base::Status CheckRuns::wait_for_engines(const config::Config& config) {
  constexpr double kLook_s = 0.05;
  const double limit_s = config.real("engine.drain_timeout");
  for (double waited_s = 0;; waited_s += kLook_s) {
    PERDURE_TRY(const auto directories, node::find_engine_directories(config));
    const auto alive = std::find_if(directories.begin(), directories.end(), [](const auto& one) { return one.alive; });
    if (alive == directories.end()) return {};
    if (waited_s >= limit_s)
      return base::fail(PERDURE_TIMEOUT, alive->path,
                        fmt::format("an engine of the run is still at work {} s after the program ended", limit_s),
                        "raise engine.drain_timeout, or see whether the program left processes behind");
    if (supervisor_.sleep(kLook_s)) return base::fail(PERDURE_UNAVAILABLE, kCheckObject, "stopped on request");
  }
}

/// Copies the first run's versions up to the early one into the second run's store.
base::Status CheckRuns::offer_early_versions() {
  PERDURE_CHECK(go_on());
  std::optional<RestoreRequest> request;
  if (!request_.restore_from.empty()) {
    PERDURE_TRY(request, parse_restore_request(request_.restore_from));
  }
  PERDURE_TRY(const auto from, store_of(kUndisturbed));
  PERDURE_TRY(const auto to, store_of(kRestored));
  PERDURE_TRY(const auto stored, complete_versions(*from));
  std::vector<Checkpoint> written;
  for (const auto& one : stored) written.push_back(one.what);
  auto point = restore_point(written, request);
  if (!point) {
    if (facts_.undisturbed.kind != plan::ProgramEnd::Kind::exited || facts_.undisturbed.value != 0)
      point.error().cause += "; it " + end_text(facts_.undisturbed);
    return base::fail(point.error());
  }
  for (const auto& one : stored) {
    PERDURE_CHECK(go_on());
    if (one.what.created_ns > *point) continue;
    PERDURE_CHECK(copy_version(*from, one.listing, *to));
    offered_.push_back(one.what.text());
  }
  return {};
}

base::Result<Comparison> CheckRuns::compare(WhichRun other, bool both_ended_well) const {
  PERDURE_TRY(const auto here, store_of(kUndisturbed));
  PERDURE_TRY(const auto there, store_of(other));
  auto later = [this](const std::vector<StoredCheckpoint>& stored) {
    std::vector<Checkpoint> all;
    for (const auto& one : stored)
      if (std::find(offered_.begin(), offered_.end(), one.what.text()) == offered_.end()) all.push_back(one.what);
    return all;
  };
  PERDURE_TRY(const auto mine, complete_versions(*here));
  PERDURE_TRY(const auto others, complete_versions(*there));
  Comparison comparison = match(later(mine), later(others), both_ended_well);
  PERDURE_CHECK(compare_stores(*here, *there, comparison, [this] { return go_on(); }));
  return comparison;
}

std::vector<std::string> CheckRuns::restored() const {
  std::vector<std::string> names;
  const auto entries = os::list_directory(place_->record_of(kRestored));
  if (entries)
    for (const os::Entry& entry : *entries)
      if (parse_checkpoint(entry.name)) names.push_back(entry.name);
  return names;
}

bool ended_well(const plan::ProgramEnd& end) { return end.kind == plan::ProgramEnd::Kind::exited && end.value == 0; }

base::Result<CheckFacts> CheckRuns::find_out() {
  PERDURE_TRY(place_, CheckPlace::make(request_.config));
  PERDURE_TRY(facts_.undisturbed, launch(kUndisturbed, "undisturbed"));
  PERDURE_CHECK(offer_early_versions());
  std::string from;
  for (const std::string& one : offered_) from += (from.empty() ? "" : ", ") + one;
  PERDURE_TRY(facts_.resumed, launch(kRestored, "which finds " + from));
  facts_.offered = offered_;
  facts_.restored = restored();
  PERDURE_TRY(facts_.comparison, compare(kRestored, ended_well(facts_.undisturbed) && ended_well(facts_.resumed)));
  if (needs_repetition(facts_)) {
    PERDURE_TRY(facts_.repeated, launch(kAgain, "undisturbed again: do two such runs write the same?"));
    PERDURE_TRY(facts_.repetition, compare(kAgain, ended_well(facts_.undisturbed) && ended_well(*facts_.repeated)));
  }
  // The result is not given up because files are left behind.
  if (auto removed = place_->remove(); !removed)
    request_.announce("check of protection: could not be removed: " + removed.error().text());
  return std::move(facts_);
}

void write_report(const base::Json& json, const std::string& path, Terminal& terminal) {
  if (path.empty()) return;
  const std::string text = json.dump(2, ' ', false, base::Json::error_handler_t::replace) + "\n";
  std::FILE* file = std::fopen(path.c_str(), "we");
  const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  if ((file != nullptr && std::fclose(file) != 0) || !written)
    print(terminal.err, "perdure: " + base::errno_error(errno, "write", path).text() + "\n");
}

int status_of(ProtectionFinding finding) {
  switch (finding) {
    case ProtectionFinding::same:
      return kGood;
    case ProtectionFinding::differs:
      return kBad;
    case ProtectionFinding::unknown:
      break;
  }
  return kCannot;
}

}  // namespace

int check_protection(const ProtectionCheck& check, Supervisor& supervisor, const std::string& json_file,
                     Terminal& terminal) {
  if (!check.restore_from.empty()) {
    if (auto request = parse_restore_request(check.restore_from); !request) {
      write_report(report_json(request.error()), json_file, terminal);
      warn(terminal, request.error());
      return kUsage;
    }
  }
  auto facts = CheckRuns(check, supervisor).find_out();
  if (!facts) {
    write_report(report_json(facts.error()), json_file, terminal);  // has the error, too
    warn(terminal, facts.error());
    return kCannot;
  }
  const ProtectionVerdict verdict = judge(*facts);
  print(terminal.err, report_text(*facts, verdict));
  write_report(report_json(*facts, verdict), json_file, terminal);
  return status_of(verdict.finding);
}

}  // namespace perdure::cli
