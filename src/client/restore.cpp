// Restores a version. If it fails verification, all ranks together leave it for the next older one (architecture,
// promises 1 and 2). A transient failure makes no rank leave a version.
#include <algorithm>
#include <map>
#include <utility>

#include "client/array_restore.hpp"
#include "client/branch_to_write.hpp"
#include "client/choose_latest.hpp"
#include "client/first_error.hpp"
#include "client/levels.hpp"
#include "client/mapped_regions.hpp"
#include "client/messages.hpp"
#include "client/part_restore.hpp"
#include "client/session.hpp"
#include "client/version_reader.hpp"
#include "os/crash_point.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "plan/restoring.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {

struct Session::Outcome {
  base::Status status;     ///< combined over all ranks
  bool wrong_use = false;  ///< the call itself is wrong on some rank: no other version would help
  bool hindered = false;   ///< some rank had a failure that says nothing about the version
  bool touched = false;    ///< the regions of some rank may hold a part of it
  int source = 0;          ///< the bits of perdure_progress::restore_source that concern other nodes
};

namespace {

// The restore is a fact by now: a failure to note it is no reason to fail. Readers of the note see that there is none.
void record(const Job& job, const segment::VersionId& id) {
  const std::string directory = job.config().text("restore.record");
  if (directory.empty() || job.rank() != 0 || !os::make_directories(directory)) return;
  (void)os::write_file_atomically(directory + "/" + id.name + "@" + std::to_string(id.version), {});
}

// PERDURE_PEER_FAILED counts, too: another rank knows the reason.
bool is_about_the_version(base::ErrorCode code) {
  return code == PERDURE_CORRUPT || code == PERDURE_INCOMPLETE || code == PERDURE_NOT_FOUND ||
         code == PERDURE_PEER_FAILED;
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
  /// Decides the next step after a failed attempt at a version. `failed`: the facts that the reader and the engines
  /// know.
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
  /// The pause before a hindered version is tried again.
  std::uint64_t pause_ns(const segment::VersionId& id) const {
    return plan::pause_after_hindrance_ns(counts_.at(id).hindrances);
  }
  /// Gives the result of a call whose version cannot be had.
  base::Status end(const base::Status& told, bool wrong_use) const {
    if (wrong_use) return newest_ ? told : not_replaced(newest_, told.error());
    return hindered_ ? hindered_at(told, *hindered_) : told;
  }

 private:
  struct Counts {
    unsigned hindrances = 0, repairs = 0;
  };
  bool latest_;
  unsigned engines_lost_ = 0;
  std::map<segment::VersionId, Counts> counts_;
  std::optional<std::string> why_;  // error of the version that was tried first, if this rank knows it
  base::Status newest_;             // error of the version that was tried first, once regions were touched
  std::optional<segment::VersionId> hindered_;
  base::Status hindrance_;
};

// [local] Finds the part of this rank's own capture that `target` takes. PERDURE_MISMATCH: it does not fit.
base::Status fit(VersionReader& reader, std::uint32_t rank, capture::MemoryTarget& target,
                 std::vector<capture::ChunkRange>& needed) {
  if (reader.of_other_ranks()) {
    target.take_all_elsewhere();
    return {};
  }
  PERDURE_TRY(const auto* piece, reader.locate(rank));
  PERDURE_TRY(needed, target.accept(piece->regions));
  return {};
}

// [collective] Gathers data from the captures of all ranks if one rank does not find its data in its own capture. Does
// so, too, if no rank has protected anything, and others wrote the version: all of it is left over then. True, with the
// reason as `outcome`: it does not match this rank's wants.
base::Result<bool> describe_arrays(Job& job, VersionReader& reader, const capture::RegionTable& regions,
                                   const capture::MemoryTarget& target, std::optional<ArrayRestore>& arrays,
                                   base::Status& outcome) {
  const bool of_nobody = nothing_protected(reader) && reader.of_other_ranks();
  if (!reader.regions().arrays && !of_nobody) return false;
  PERDURE_TRY(const bool gathers, on_any_rank(job.comm(), outcome && (of_nobody || !target.elsewhere().empty())));
  if (!gathers) return false;
  const base::Status ready = agree(job.comm(), outcome);
  const bool all = target.wanted().all && reader.of_other_ranks();  // otherwise each rank has looked at its own capture
  if (ready) arrays.emplace(job, reader, regions, capture::Wanted{target.elsewhere(), all});
  outcome = ready ? arrays->describe() : ready;
  const bool own = of_nobody && arrays && !arrays->local().empty() && (outcome || arrays->wrong_use());
  if (own) outcome = base::fail(written_by_others("", reader.ranks(), job.ranks(), arrays->local()));
  return own || (arrays && arrays->wrong_use());
}

}  // namespace

// Restores the chosen version. Writes nothing to the application's memory before every rank has found that the version
// fits.
base::Result<Session::Outcome> Session::restore_chosen(VersionReader& reader, capture::MemoryTarget& target) {
  base::Status outcome = reader.fetch();
  std::vector<capture::ChunkRange> needed;
  const bool fetched = outcome.has_value();  // the same on all ranks
  if (outcome) outcome = base::caught("restore", [&] { return fit(reader, job_->rank(), target, needed); });
  bool wrong_use = fetched && !outcome && outcome.error().code == PERDURE_MISMATCH;
  std::optional<ArrayRestore> arrays;
  if (fetched) {
    PERDURE_TRY(const bool misfit, describe_arrays(*job_, reader, regions_, target, arrays, outcome));
    wrong_use = wrong_use || misfit;
  }
  PERDURE_TRY(wrong_use, told_to_all(reader, wrong_use, outcome));
  if (!wrong_use) {
    os::crash_point(os::CrashPoint::restore_located);
    if (outcome)
      outcome = base::caught("restore", [&]() -> base::Status {
        PERDURE_CHECK(reader.commit_fetched());
        if (reader.of_other_ranks()) return {};
        PERDURE_TRY(const auto* piece, reader.locate(job_->rank()));
        places_->bring_back(regions_, piece->regions, target.direct());
        return reader.restore(job_->rank(), needed, target);
      });
    if (arrays) {
      const base::Status all = agree(job_->comm(), outcome);
      outcome = all ? arrays->read() : all;
    }
    os::crash_point(os::CrashPoint::restore_before_agree);
  }
  PERDURE_TRY(auto all, ended(reader, outcome, wrong_use, fetched));
  all.source = (reader.fetched() ? 4 : 0) | (arrays ? arrays->source() : 0);
  static const std::vector<std::int32_t> none;
  if (all.status) regions_.note_restored(target.wanted().ids, target.absent(), arrays ? arrays->absent() : none);
  return all;
}

// [collective] Makes one rank's mismatch the error of all. They can only do the same as that rank, and none may take it
// for a first start. Then true, with that error as `outcome`.
base::Result<bool> Session::told_to_all(const VersionReader& reader, bool wrong_use, base::Status& outcome) {
  PERDURE_TRY(const bool anywhere, on_any_rank(job_->comm(), wrong_use));
  if (!anywhere) return false;
  base::Error mine;
  PERDURE_CHECK(agree_after(job_->comm(), "restore", [&]() -> base::Status {
    if (!wrong_use) return {};
    mine = outcome.error();
    if (!mine.object.empty()) mine.cause = mine.object + ": " + mine.cause;
    mine.object = reader.id().text();
    if (job_->ranks() > 1) mine.object += ", rank " + std::to_string(job_->rank());
    return {};
  }));
  const std::uint64_t who = wrong_use ? job_->rank() : ~std::uint64_t{0};
  outcome = first_error(job_->comm(), mine, who, 0);
  return true;
}

namespace {

/// Notes an error of the target itself. It is neither the version's fault nor the machine's, and another attempt would
/// end alike. An error about the version's content (PERDURE_CORRUPT) concerns the version.
class JudgedTarget : public capture::Target {
 public:
  explicit JudgedTarget(capture::Target& target) : target_(target) {}
  base::Result<std::vector<capture::ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override {
    auto accepted = target_.accept(stored);
    refuses_ = !accepted && !is_about_its_bytes(accepted.error().code);
    return accepted;
  }
  void comes_from(const segment::VersionId& id) override { target_.comes_from(id); }
  std::vector<capture::MemorySpan> memory(capture::ChunkRange range) override { return target_.memory(range); }
  std::optional<std::uint64_t> wanted() override { return target_.wanted(); }
  bool is_read_ahead() const override { return target_.is_read_ahead(); }
  base::Status write(capture::ChunkRange range, base::ConstByteSpan bytes) override {
    auto written = target_.write(range, bytes);
    refuses_ = refuses_ || (!written && !is_about_its_bytes(written.error().code));
    return written;
  }
  bool refuses() const { return refuses_; }

 private:
  /// It is damaged, or the data that it borrows is: an older version may be complete.
  static bool is_about_its_bytes(base::ErrorCode code) { return code == PERDURE_CORRUPT || code == PERDURE_INCOMPLETE; }
  capture::Target& target_;
  bool refuses_ = false;
};

}  // namespace

base::Result<Session::Outcome> Session::restore_chosen_to(VersionReader& reader, capture::Target& of_caller) {
  JudgedTarget target(of_caller);
  base::Status outcome = reader.fetch();
  std::vector<capture::ChunkRange> needed;
  bool wrong_use = false;
  const bool fetched = outcome.has_value();  // the same on all ranks
  if (outcome)
    outcome = base::caught("restore", [&]() -> base::Status {
      PERDURE_TRY(const auto* piece, reader.locate(job_->rank()));
      target.comes_from(reader.id());
      auto accepted = target.accept(piece->regions);
      if (!accepted) return base::fail(accepted.error());
      needed = std::move(*accepted);
      return {};
    });
  PERDURE_TRY(wrong_use, on_any_rank(job_->comm(), target.refuses()));
  if (!wrong_use) {
    os::crash_point(os::CrashPoint::restore_located);
    if (outcome)
      outcome = base::caught("restore", [&]() -> base::Status {
        PERDURE_CHECK(reader.commit_fetched());
        return reader.restore(job_->rank(), needed, target);
      });
    os::crash_point(os::CrashPoint::restore_before_agree);
    PERDURE_TRY(wrong_use, on_any_rank(job_->comm(), target.refuses()));
  }
  PERDURE_TRY(auto all, ended(reader, outcome, wrong_use, fetched));
  all.source = reader.fetched() ? 4 : 0;
  return all;
}

// Combines how an attempt ended on all ranks; `outcome` is this rank's.
base::Result<Session::Outcome> Session::ended(VersionReader& reader, const base::Status& outcome, bool wrong_use,
                                              bool touched) {
  reader.release();
  Outcome all{agree(job_->comm(), outcome), wrong_use};
  all.touched = touched && !wrong_use;
  if (!all.status && !wrong_use) {
    PERDURE_TRY(all.hindered, on_any_rank(job_->comm(), !outcome && !is_about_the_version(outcome.error().code)));
  }
  return all;
}

base::Result<Session::Outcome> Session::restore_chosen_part(VersionReader& reader, std::uint32_t of,
                                                            const capture::Region& target) {
  base::Status outcome = reader.fetch();
  const bool fetched = outcome.has_value();  // the same on all ranks
  PartRestore part(*job_, reader, of, target, regions_);
  if (outcome) outcome = base::caught("restore", [&] { return part.describe(); });
  PERDURE_TRY(const bool wrong_use, told_to_all(reader, part.wrong_use(), outcome));
  if (!wrong_use) {
    os::crash_point(os::CrashPoint::restore_located);
    if (outcome) outcome = base::caught("restore", [&] { return reader.commit_fetched(); });
    const base::Status all = agree(job_->comm(), outcome);
    outcome = all ? part.read() : all;
    os::crash_point(os::CrashPoint::restore_before_agree);
  }
  PERDURE_TRY(auto all, ended(reader, outcome, wrong_use, fetched));
  all.source = (reader.fetched() ? 4 : 0) | part.source();
  return all;
}

base::Status Session::restore_newest(VersionReader& reader, const Opening& opening, const base::Status& ready,
                                     const Attempt& attempt) {
  Attempts attempts(opening.version < 0);
  for (;;) {
    const base::Status chosen = reader.choose(opening, ready);
    if (auto over = attempts.over(chosen, reader.id())) return std::move(*over);
    if (reader.regions().arrays)
      PERDURE_CHECK(arrays_.agree(job_->comm(), reader.regions(), ArrayAgreement::For::restore, regions_));
    PERDURE_TRY(const Outcome outcome, attempt(reader));
    if (outcome.status) {
      progress_.restore_source = outcome.source;
      return {};
    }
    if (outcome.wrong_use) return attempts.end(outcome.status, true);
    plan::FailedRestore failed;
    failed.others_help = reader.repairable();
    PERDURE_TRY(failed.engine_gone, job_->any_engine_gone());
    if (!failed.engine_gone && reader.leave_to_store(outcome.status.error())) continue;
    failed.hindered = outcome.hindered && !failed.engine_gone;
    // Damaged data is set aside then. Data that only one reader found damaged is read again.
    if (!failed.engine_gone) {
      PERDURE_TRY(failed.read_again, reader.read_again());
    }
    const base::Status told = outcome.touched ? undefined_content(outcome.status) : outcome.status;
    const auto after = attempts.note(reader.id(), told, outcome.touched, failed);
    if (after == plan::RestoreStep::fail) return attempts.end(told, false);
    if (after == plan::RestoreStep::again_after_pause) os::sleep_ns(attempts.pause_ns(reader.id()));
    if (after == plan::RestoreStep::attach) PERDURE_CHECK(job_->attach());
    if (after == plan::RestoreStep::without_slots) reader.set_aside_unread();
    if (after == plan::RestoreStep::older) PERDURE_CHECK(reader.exclude(outcome.status.error()));
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

base::Status Session::restore(std::string_view name, std::int64_t version,
                              const std::optional<std::span<const std::int32_t>>& ids,
                              std::optional<std::string_view> branch) {
  auto outcome = collective([&] { return restore_all(std::string(name), version, ids, branch); });
  note_name(name);
  return outcome;
}

base::Status Session::restore_all(const std::string& name, std::int64_t version,
                                  const std::optional<std::span<const std::int32_t>>& ids,
                                  std::optional<std::string_view> branch) {
  const std::uint64_t begun = os::monotonic_ns();
  left_ns_ = 0;  // the time between checkpoints now includes more than the application's own
  base::Status ready = followed_.take_refusal();
  if (ready) ready = segment::check_name(name);
  if (ready) ready = check_version(version, true);
  if (ready) ready = job_->hold(name, NameClaims::Access::read);
  os::crash_point(os::CrashPoint::restore_begin);
  const SlotPrefaulter::Pause pause(job_->engine().prefaulter());
  VersionReader reader(*job_);
  std::optional<capture::MemoryTarget> target;
  if (ready)
    ready = base::caught("restore", [&]() -> base::Status {
      PERDURE_CHECK(find_regions());
      PERDURE_CHECK(check_mapped(regions_, MemoryUse::fill, ids));
      target.emplace(regions_, ids ? std::optional(std::vector<std::int32_t>(ids->begin(), ids->end())) : std::nullopt);
      return {};
    });
  Opening opening{Operation::restore, name, version};
  if (ready) ready = choose_branch(opening, branch);
  if (ready)
    ready = base::caught("restore", [&]() -> base::Status {
      tell_regions(opening, arrays_.news(regions_), target->wanted().ids);
      if (ids && regions_.regions().empty()) opening.regions.local = true;  // it asks for none of the stored regions
      return {};
    });
  PERDURE_CHECK(
      restore_newest(reader, opening, ready, [&](VersionReader& chosen) { return restore_chosen(chosen, *target); }));
  return end_restore(reader, begun);
}

base::Status Session::restore(std::string_view of_name, std::int64_t version, capture::Target& target,
                              std::optional<std::string_view> branch) {
  return collective([&]() -> base::Status {
    const std::uint64_t begun = os::monotonic_ns();
    left_ns_ = 0;
    const std::string name(of_name);
    base::Status ready = segment::check_name(name);
    if (ready) ready = check_version(version, true);
    if (ready) ready = job_->hold(name, NameClaims::Access::read);
    os::crash_point(os::CrashPoint::restore_begin);
    const SlotPrefaulter::Pause pause(job_->engine().prefaulter());
    VersionReader reader(*job_);
    Opening opening{Operation::restore, name, version};
    opening.regions.local = true;  // memory of one rank
    if (ready) ready = choose_branch(opening, branch);
    PERDURE_CHECK(restore_newest(reader, opening, ready,
                                 [&](VersionReader& chosen) { return restore_chosen_to(chosen, target); }));
    return end_restore(reader, begun);
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
  progress_.restore_source |= (read.slots > 0 ? 1 : 0) | (read.store > 0 ? 2 : 0);
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

base::Status Session::restore_part(std::string_view name, std::int64_t version, std::uint32_t of,
                                   const capture::Region& target) {
  return collective([&]() -> base::Status {
    const std::uint64_t begun = os::monotonic_ns();
    left_ns_ = 0;
    base::Status ready = segment::check_name(name);
    if (ready) ready = check_version(version, true);
    if (ready && target.bytes() > 0 && target.address == nullptr)
      ready = base::fail(PERDURE_INVALID_ARGUMENT, "region " + std::to_string(target.id), "the address is null");
    if (ready) ready = base::caught("restore", [&] { return check_mapped(target, MemoryUse::fill); });
    if (ready) ready = job_->hold(std::string(name), NameClaims::Access::read);
    os::crash_point(os::CrashPoint::restore_begin);
    const SlotPrefaulter::Pause pause(job_->engine().prefaulter());
    VersionReader reader(*job_);
    Opening opening{Operation::restore, std::string(name), version};
    opening.detail = kPart;
    PERDURE_CHECK(restore_newest(reader, opening, ready,
                                 [&](VersionReader& chosen) { return restore_chosen_part(chosen, of, target); }));
    return end_restore(reader, begun);
  });
}

}  // namespace perdure::client
