// perdure verify reads and verifies every byte of a store or of one checkpoint.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "cli/arguments.hpp"
#include "cli/libraries.hpp"
#include "cli/open_store.hpp"
#include "cli/progress.hpp"
#include "cli/verb.hpp"
#include "inspect/audit.hpp"
#include "inspect/store_place.hpp"
#include "inspect/table.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::cli {
namespace {

struct VerifyArguments {
  std::string positional, checkpoint, option;
  unsigned threads = os::cpu_count();
  bool json = false, complete = false;
};

struct Target {
  std::string location;
  CheckpointSpec spec;   ///< empty name: all
  bool guessed = false;  ///< the only argument was taken for a checkpoint
};

/// Tells whether the only argument is a checkpoint of the configured store: it is no directory, and written as a
/// checkpoint.
bool is_meant_as_checkpoint(const std::string& text) {
  const bool written_so = text.find('@') != std::string::npos || segment::check_name(text);
  return !text.empty() && written_so && !os::exists(text).value_or(true);
}

base::Result<Target> target_of(const VerifyArguments& arguments) {
  std::string location = arguments.positional, checkpoint = arguments.checkpoint;
  const bool guessed = checkpoint.empty() && arguments.option.empty() && is_meant_as_checkpoint(location);
  if (guessed) std::swap(location, checkpoint);
  if (!arguments.option.empty()) {
    if (!location.empty() && !checkpoint.empty())
      return base::fail(PERDURE_INVALID_ARGUMENT, "--store", "the store is given twice");
    if (checkpoint.empty()) std::swap(location, checkpoint);
    location = arguments.option;
  }
  Target target{location, {}, guessed};
  if (!checkpoint.empty()) {
    PERDURE_TRY(target.spec, parse_checkpoint(checkpoint));
  }
  return target;
}

struct Report {
  AuditResult result;
  std::vector<Residue> notes;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// Segments in wrong places are defects; the rest of the residue is worth a note.
void sort_residue(std::vector<Residue> residue, const std::string& name, Report& report) {
  for (Residue& piece : residue) {
    if (!name.empty() && piece.name != name) continue;
    if (piece.kind != Residue::Kind::misplaced) {
      report.notes.push_back(std::move(piece));
      continue;
    }
    report.result.defects.push_back(
        {piece.path,
         0,
         piece.ranks,
         -1,
         {PERDURE_CORRUPT, piece.path, "a segment under a name, or in a place, where none belongs",
          "give it back the name its manifest says, or move it out of the store", false}});
  }
}

base::Json to_json(const Report& report, const std::string& location, bool good) {
  base::Json defects = base::Json::array(), notes = base::Json::array();
  for (const Finding& defect : report.result.defects)
    defects.push_back({{"file", defect.file},
                       {"offset", defect.offset},
                       {"rank", defect.rank},
                       {"chunk", defect.chunk},
                       {"error", error_json(defect.error)}});
  for (const Residue& note : report.notes)
    notes.push_back({{"kind", kind_name(note.kind)}, {"file", note.path}, {"bytes", note.bytes}});
  return {{"store", location},
          {"good", good},
          {"versions", report.result.versions},
          {"segments", report.result.segments},
          {"bytes", report.bytes},
          {"seconds", report.seconds},
          {"defects", defects},
          {"incomplete", report.result.incomplete},
          {"notes", notes}};
}

/// A renamed directory is no damage: there the remedy matters more than the place.
std::string cause_text(const base::Error& error) {
  return error.code == PERDURE_MISMATCH ? error.cause + "; " + error.remedy : error.cause;
}

void print_report(const Report& report, Terminal& terminal) {
  for (const Finding& defect : report.result.defects)
    print(terminal.out,
          base::printable(fmt::format("DEFECT {}: offset {}, rank {}{}: {}", defect.file, defect.offset, defect.rank,
                                      defect.chunk >= 0 ? fmt::format(", chunk {}", defect.chunk) : "",
                                      cause_text(defect.error))) +
              "\n");
  for (const std::string& text : report.result.incomplete)
    print(terminal.out, "incomplete: " + base::printable(text) + "\n");
  for (const Residue& note : report.notes)
    print(terminal.out, base::printable(fmt::format("note: {} file {}, {}", kind_name(note.kind), note.path,
                                                    base::format_bytes(note.bytes))) +
                            "\n");
  const double rate = report.seconds > 0 ? static_cast<double>(report.bytes) / report.seconds : 0;
  print(terminal.out,
        fmt::format("{} versions, {} segments, {} read in {:.1f} s ({}/s): {}\n", report.result.versions,
                    report.result.segments, base::format_bytes(report.bytes), report.seconds,
                    base::format_bytes(static_cast<std::uint64_t>(rate)),
                    report.result.defects.empty() ? std::string("no defects")
                                                  : fmt::format("{} DEFECTS", report.result.defects.size())));
}

base::Result<Report> examine(store::Store& store, const Target& target, const VerifyArguments& arguments,
                             Terminal& terminal) {
  auto planned = plan_audit(store, target.spec.name, target.spec.version, target.spec.branch);
  const bool missing = planned ? planned->versions.empty() : planned.error().code == PERDURE_NOT_FOUND;
  if (missing && !target.spec.name.empty()) return base::fail(no_such_checkpoint(store, target.spec));
  PERDURE_TRY(const AuditPlan plan, std::move(planned));
  // Otherwise a scheduled run would call a wrong directory "no defects".
  if (plan.versions.empty() && not_a_store(store)) return base::fail(no_checkpoint(store));
  Report report;
  {
    Progress progress(terminal, "verifying", plan.bytes);
    report.result = audit(store, plan, arguments.threads, [&](std::uint64_t bytes) { progress.add(bytes); });
    report.bytes = progress.done();
    report.seconds = progress.elapsed_s();
  }
  PERDURE_TRY(auto residue, find_residue(store));
  sort_residue(std::move(residue), target.spec.name, report);
  if (plan.versions.empty() && report.result.defects.empty()) return base::fail(no_checkpoint(store));
  return report;
}

/// The word that was taken for a checkpoint may have been meant as a store.
base::Error told_of_guess(const Target& target, base::Error error) {
  if (!target.guessed || error.code != PERDURE_NOT_FOUND) return error;
  if (!error.remedy.empty()) error.remedy += "; ";
  error.remedy += "there is no directory " + target.spec.name + " either: perdure verify STORE [NAME[@VERSION]]";
  return error;
}

int verify(const VerifyArguments& arguments, Terminal& terminal) {
  auto target = target_of(arguments);
  if (!target) return report(terminal, target.error());
  auto store = open_store(target->location, terminal);
  if (!store) return report(terminal, told_of_guess(*target, store.error()));
  auto result = examine(**store, *target, arguments, terminal);
  if (!result) return report(terminal, told_of_guess(*target, result.error()));
  const bool good = result->result.defects.empty() && (!arguments.complete || result->result.incomplete.empty());
  if (arguments.json) {
    print_json(terminal, to_json(*result, (*store)->properties().location, good));
  } else {
    print_report(*result, terminal);
  }
  return good ? kGood : kBad;
}

}  // namespace

Action enrol_verify(CLI::App& app) {
  auto arguments = std::make_shared<VerifyArguments>();
  app.add_option(
      "STORE", arguments->positional,
      "the store; by default the configured one (store.path). One word that is no directory is a checkpoint");
  app.add_option("NAME[@VERSION]", arguments->checkpoint, "only this checkpoint");
  app.add_option("--store", arguments->option, "the store, as an option");
  app.add_option("--threads", arguments->threads, "how many segments to read at once")
      ->capture_default_str()
      ->check(whole_number)
      ->check(within(1, 1024));
  app.add_flag("--complete", arguments->complete, "an incomplete version is bad too (exit status 1)");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return verify(*arguments, terminal); };
}

}  // namespace perdure::cli
