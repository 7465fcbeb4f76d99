// Restores a version. If it fails verification, all ranks together leave it for the next older one (architecture,
// promises 1 and 2). A transient failure makes no rank leave a version.
#include <algorithm>
#include <map>
#include <utility>

#include "client/branch_to_write.hpp"
#include "client/levels.hpp"
#include "client/mapped_regions.hpp"
#include "client/messages.hpp"
#include "client/restore_target.hpp"
#include "client/session.hpp"
#include "os/crash_point.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "plan/restoring.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {

namespace {

// The restore is a fact by now: a failure to note it is no reason to fail. Readers of the note see that there is none.
void record(const Job& job, const segment::VersionId& id) {
  const std::string directory = job.config().text("restore.record");
  if (directory.empty() || job.rank() != 0 || !os::make_directories(directory)) return;
  (void)os::write_file_atomically(directory + "/" + id.name + "@" + std::to_string(id.version), {});
}

// Replaces codes that would mean that memory was not touched.
base::Status undefined_content(base::Status failed) {
  auto& code = failed.error().code;
  if (code == PERDURE_NOT_FOUND || code == PERDURE_MISMATCH) code = PERDURE_INCOMPLETE;
  return failed;
}

// A newer version has been tried, so "it does not fit" would be incomplete.
base::Status not_replaced(base::Status newer, const base::Error& older) {
  newer.error().cause += "; an older version does not fit: " + older.object + ": " + older.cause;
  return undefined_content(std::move(newer));
}

base::Status hindered_at(base::Status failed, const segment::VersionId& id) {
  base::Error& error = failed.error();
  error.cause = "of " + id.text() + ", which is not known to be damaged, a part could not be had: " + error.cause;
  error.remedy += std::string(error.remedy.empty() ? "" : "; ") +
                  "restore again when that has passed, or an older version by its number";
  return undefined_content(std::move(failed));
}

/// The attempts made in one call, the same on all ranks except for the texts of errors.
class Attempts {
 public:
  explicit Attempts(bool latest) : latest_(latest) {}

  /// Gives the call's result after a choice, if no version is to be tried any more. No older version takes the place of
  /// one that was hindered. If a newer version has been tried, "it does not fit" would be incomplete.
  std::optional<base::Status> over(const base::Status& chosen, const segment::VersionId& id) const {
    const auto gone = [](base::ErrorCode code) { return is_about_the_version(code) || code == PERDURE_MISMATCH; };
    if (hindered_ && (chosen ? id != *hindered_ : gone(chosen.error().code)))
      return hindered_at(hindrance_, *hindered_);
    if (chosen) return std::nullopt;
    if (chosen.error().code == PERDURE_CORRUPT && why_) {
      base::Error all = chosen.error();
      all.cause += ". What was wrong with it: " + *why_;
      return base::fail(std::move(all));
    }
    return !newest_ && chosen.error().code == PERDURE_MISMATCH ? not_replaced(newest_, chosen.error()) : chosen;
  }
  /// [collective] Prepares the next attempt after one that failed. An error: there is none, and that is the call's.
  base::Status go_on(Job& job, VersionReader& reader, const RestoreOutcome& outcome) {
    const base::Error& why = outcome.status.error();
    if (outcome.misused) return newest_ ? outcome.status : not_replaced(newest_, why);
    plan::FailedRestore failed;
    failed.others_help = reader.repairable();
    PERDURE_TRY(failed.engine_gone, job.any_engine_gone());
    if (!failed.engine_gone && reader.leave_to_store(why)) return {};
    failed.hindered = outcome.hindered && !failed.engine_gone;
    // Damaged data is set aside then. Data that only one reader found damaged is read again.
    if (!failed.engine_gone) {
      PERDURE_TRY(failed.read_again, reader.read_again());
    }
    const base::Status told = outcome.touched ? undefined_content(outcome.status) : outcome.status;
    const segment::VersionId& id = reader.id();
    switch (note(id, told, outcome.touched, failed)) {
      case plan::RestoreStep::again:
        return {};
      case plan::RestoreStep::again_after_pause:
        os::sleep_ns(plan::pause_after_hindrance_ns(counts_.at(id).hindrances));
        return {};
      case plan::RestoreStep::attach:
        return job.attach();
      case plan::RestoreStep::without_slots:
        reader.set_aside_unread();
        return {};
      case plan::RestoreStep::older:
        return reader.exclude(why);
      case plan::RestoreStep::fail:
        break;
    }
    return hindered_ ? hindered_at(told, *hindered_) : told;
  }

 private:
  struct Counts {
    unsigned hindrances = 0, repairs = 0;
  };
  /// `failed`: the facts that the reader and the engines know.
  plan::RestoreStep note(const segment::VersionId& id, const base::Status& told, bool touched,
                         plan::FailedRestore failed) {
    Counts& counts = counts_[id];
    failed.latest = latest_;
    failed.engines_lost = engines_lost_ += failed.engine_gone ? 1 : 0;
    failed.hindrances = counts.hindrances += failed.hindered ? 1 : 0;
    failed.repairs = counts.repairs;
    if (touched && newest_) newest_ = told;
    if (!why_ && told.error().code != PERDURE_PEER_FAILED) why_ = told.error().text();
    if (hindered_ == id) hindered_.reset();  // it may be damaged after all
    if (failed.hindered) hindered_ = id, hindrance_ = told;
    const auto after = plan::after_failed_restore(failed);
    if (after == plan::RestoreStep::again) ++counts.repairs;
    return after;
  }
  bool latest_;
  unsigned engines_lost_ = 0;
  std::map<segment::VersionId, Counts> counts_;
  std::optional<std::string> why_;  // error of the version that was tried first, if this rank knows it
  base::Status newest_;             // error of the version that was tried first, once regions were touched
  std::optional<segment::VersionId> hindered_;
  base::Status hindrance_;
};

}  // namespace

base::Status Session::restore_newest(VersionReader& reader, const Opening& opening, const base::Status& ready,
                                     RestoreTarget* target) {
  Attempts attempts(opening.version < 0);
  for (;;) {
    const base::Status chosen = reader.choose(opening, ready);
    if (auto over = attempts.over(chosen, reader.id())) return std::move(*over);
    if (reader.regions().arrays)
      PERDURE_CHECK(arrays_.agree(job_->comm(), reader.regions(), ArrayAgreement::For::restore, regions_));
    PERDURE_TRY(const RestoreOutcome outcome, restore_chosen(*job_, reader, *target));
    if (outcome.status) {
      progress_.restore_source = outcome.source;
      return {};
    }
    PERDURE_CHECK(attempts.go_on(*job_, reader, outcome));
  }
}

// Fills in this rank's facts about the wanted regions. Memory of one rank that may be absent does not prevent arrays
// from coming back on another number of ranks.
void Session::tell_regions(Opening& opening, const RegionNews& declared,
                           const std::vector<std::int32_t>& wanted) const {
  opening.regions = declared;
  opening.regions.arrays = std::any_of(wanted.begin(), wanted.end(), [&](std::int32_t id) {
    const auto* region = regions_.find(id);
    return region != nullptr && region->part;
  });
  opening.regions.local = false;  // a rank without regions of any kind says nothing
  for (const auto id : wanted) {
    const auto* region = regions_.find(id);
    if (region != nullptr && (region->part || (region->optional && opening.regions.arrays))) continue;
    opening.regions.local = true;
    if (opening.local_region.empty())
      opening.local_region = region == nullptr ? "region " + std::to_string(id) : region->text();
  }
}

namespace {

// All ranks refuse a text that names no branch.
base::Status choose_branch(Opening& opening, std::optional<std::string_view> text) {
  if (!text) return {};
  const auto branch = plan::parse_branch(*text);
  if (branch) opening.detail = on_branch(*branch);
  if (branch) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "branch '" + std::string(text->substr(0, 64)) + "'",
                    "it is not the name of a branch", "perdure ls shows them: six hexadecimal digits");
}

}  // namespace

// `prepare` checks the memory, and adds to the opening. `ready`: an error that was found before.
base::Status Session::restore_to(Opening opening, base::Status ready, std::optional<std::string_view> branch,
                                 const Prepare& prepare) {
  const std::uint64_t begun = os::monotonic_ns();
  left_ns_ = 0;  // the time between checkpoints now includes more than the application's own
  if (ready) ready = segment::check_name(opening.name);
  if (ready) ready = check_version(opening.version, true);
  if (ready) ready = job_->hold(opening.name, NameClaims::Access::read);
  os::crash_point(os::CrashPoint::restore_begin);
  const SlotPrefaulter::Pause pause(job_->engine().prefaulter());
  VersionReader reader(*job_);
  std::unique_ptr<RestoreTarget> target;
  if (ready)
    ready = base::caught("restore", [&]() -> base::Status {
      PERDURE_TRY(target, prepare(opening));
      return choose_branch(opening, branch);
    });
  PERDURE_CHECK(restore_newest(reader, opening, ready, target.get()));
  return end_restore(reader, begun);
}

base::Status Session::restore(std::string_view name, std::int64_t version,
                              const std::optional<std::span<const std::int32_t>>& ids,
                              std::optional<std::string_view> branch) {
  auto outcome = collective([&] {
    return restore_to({Operation::restore, std::string(name), version}, followed_.take_refusal(), branch,
                      [&](Opening& opening) -> base::Result<std::unique_ptr<RestoreTarget>> {
                        PERDURE_CHECK(find_regions());
                        PERDURE_CHECK(check_mapped(regions_, MemoryUse::fill, ids));
                        auto target = std::make_unique<capture::MemoryTarget>(
                            regions_, ids ? std::optional(std::vector(ids->begin(), ids->end())) : std::nullopt);
                        tell_regions(opening, arrays_.news(regions_), target->wanted().ids);
                        // It may ask for none of the stored regions.
                        if (ids && regions_.regions().empty()) opening.regions.local = true;
                        return restores_to(*job_, regions_, *places_, std::move(target));
                      });
  });
  note_name(name);
  return outcome;
}

base::Status Session::restore(std::string_view name, std::int64_t version, capture::Target& target,
                              std::optional<std::string_view> branch) {
  return collective([&] {
    return restore_to({Operation::restore, std::string(name), version}, {}, branch,
                      [&](Opening& opening) -> base::Result<std::unique_ptr<RestoreTarget>> {
                        opening.regions.local = true;  // memory of one rank
                        return restores_to(*job_, target);
                      });
  });
}

base::Status Session::restore_part(std::string_view name, std::int64_t version, std::uint32_t of,
                                   const capture::Region& target) {
  return collective([&] {
    return restore_to({Operation::restore, std::string(name), version, kPart}, {}, std::nullopt,
                      [&](Opening&) -> base::Result<std::unique_ptr<RestoreTarget>> {
                        if (target.bytes() > 0 && target.address == nullptr)
                          return base::fail(PERDURE_INVALID_ARGUMENT, "region " + std::to_string(target.id),
                                            "the address is null");
                        PERDURE_CHECK(check_mapped(target, MemoryUse::fill));
                        return restores_to(*job_, target, of, regions_);
                      });
  });
}

// One rank prints for all, if messages are wanted; each node's engine has a report of it.
void Session::tell_passed_over() const {
  if (job_->rank() != 0 || !restored_ || restored_->passed_over.empty()) return;
  Messages(job_->config())
      .say("checkpoint " + restored_->id.name + ": version " + std::to_string(restored_->id.version) +
           " was restored, which is not the newest; passed over: " + passed_over_text(restored_->passed_over));
}

base::Result<Restored> Session::restored() const {
  if (restored_) return *restored_;
  return base::fail(PERDURE_NOT_FOUND, "restore", "this handle has restored nothing yet");
}

base::Status Session::end_restore(VersionReader& reader, std::uint64_t begun) {
  // Holds for a restore of the latest, too: newer versions were damaged, and stay behind.
  job_->known().went_back(reader.id());
  go_on_from(*job_, reader.id());
  const BytesRead read = reader.bytes_read();
  progress_.restored_version = static_cast<std::int64_t>(reader.id().version);
  progress_.restore_source |= (read.slots > 0 ? kFromTier : 0) | (read.store > 0 ? kFromStore : 0);
  restored_ = Restored{reader.id(), progress_.restore_source, reader.passed_over()};
  // A program that asks for the latest first, and then for its number, passes over the same versions.
  if (latest_ && latest_->id == reader.id() && restored_->passed_over.empty())
    restored_->passed_over = latest_->passed_over;
  PERDURE_CHECK(reader.replicate_again());
  record(*job_, reader.id());  // a restore that fails here is not recorded
  tell_passed_over();
  progress_.last_restore_s = static_cast<double>(os::monotonic_ns() - begun) * 1e-9;
  os::crash_point(os::CrashPoint::restore_done);
  return {};
}

}  // namespace perdure::client
