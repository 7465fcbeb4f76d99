#include "client/restore_target.hpp"

#include "client/array_restore.hpp"
#include "client/choose_latest.hpp"
#include "client/part_restore.hpp"
#include "os/crash_point.hpp"

namespace perdure::client {
namespace {

// [collective] Makes one rank's mismatch the error of all. They can only do the same as that rank, and none may take it
// for a first start. Then true, with that error as `outcome`.
base::Result<bool> told_to_all(Job& job, const VersionReader& reader, bool misused, base::Status& outcome) {
  PERDURE_TRY(const bool anywhere, on_any_rank(job.comm(), misused));
  if (!anywhere) return false;
  base::Error mine;
  PERDURE_CHECK(agree_after(job.comm(), "restore", [&]() -> base::Status {
    if (!misused) return {};
    mine = outcome.error();
    if (!mine.object.empty()) mine.cause = mine.object + ": " + mine.cause;
    mine.object = reader.id().text();
    if (job.ranks() > 1) mine.object += ", rank " + std::to_string(job.rank());
    return {};
  }));
  const std::uint64_t who = misused ? job.rank() : ~std::uint64_t{0};
  outcome = first_error(job.comm(), mine, who, 0);
  return true;
}

/// Reads this rank's own piece.
class OwnPiece {
 public:
  base::Status find(Job& job, VersionReader& reader, capture::Target& target) {
    needed_.clear();
    PERDURE_TRY(const auto* piece, reader.locate(job.rank()));
    target.comes_from(reader.id());
    PERDURE_TRY(needed_, target.accept(piece->regions));
    return {};
  }
  base::Status read(Job& job, VersionReader& reader, capture::Target& target) const {
    return reader.restore(job.rank(), needed_, target);
  }

 private:
  std::vector<capture::ChunkRange> needed_;
};

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

class ToCaller : public RestoreTarget {
 public:
  ToCaller(Job& job, capture::Target& target) : job_(job), target_(target) {}
  base::Status find(VersionReader& reader) override { return own_.find(job_, reader, target_); }
  base::Result<bool> is_misused(VersionReader& /*reader*/, bool /*fetched*/, base::Status& /*outcome*/) override {
    return refuses();
  }
  base::Status read(VersionReader& reader, const base::Status& ready) override {
    if (!ready) return ready;
    return base::caught("restore", [&]() -> base::Status {
      PERDURE_CHECK(reader.commit_fetched());
      return own_.read(job_, reader, target_);
    });
  }
  base::Result<bool> refuses() override { return on_any_rank(job_.comm(), target_.refuses()); }

 private:
  Job& job_;
  JudgedTarget target_;
  OwnPiece own_;
};

class ToRegions : public RestoreTarget {
 public:
  ToRegions(Job& job, capture::RegionTable& regions, RegionPlaces& places,
            std::unique_ptr<capture::MemoryTarget> target)
      : job_(job), regions_(regions), places_(places), target_(std::move(target)) {}
  base::Status find(VersionReader& reader) override {
    if (!reader.of_other_ranks()) return own_.find(job_, reader, *target_);
    target_->take_all_elsewhere();
    return {};
  }
  base::Result<bool> is_misused(VersionReader& reader, bool fetched, base::Status& outcome) override {
    bool misused = fetched && !outcome && outcome.error().code == PERDURE_MISMATCH;
    arrays_.reset();
    if (fetched) {
      PERDURE_TRY(const bool misfit, describe_arrays(reader, outcome));
      misused = misused || misfit;
    }
    return told_to_all(job_, reader, misused, outcome);
  }
  base::Status read(VersionReader& reader, const base::Status& ready) override {
    const base::Status own = ready ? base::caught("restore", [&] { return read_own(reader); }) : ready;
    if (!arrays_) return own;
    PERDURE_CHECK(agree(job_.comm(), own));
    return arrays_->read();
  }
  void restored() override {
    static const std::vector<std::int32_t> none;
    regions_.note_restored(target_->wanted().ids, target_->absent(), arrays_ ? arrays_->absent() : none);
  }
  int source() const override { return arrays_ ? arrays_->source() : 0; }

 private:
  base::Status read_own(VersionReader& reader) {
    PERDURE_CHECK(reader.commit_fetched());
    if (reader.of_other_ranks()) return {};
    PERDURE_TRY(const auto* piece, reader.locate(job_.rank()));
    places_.bring_back(regions_, piece->regions, target_->direct());
    return own_.read(job_, reader, *target_);
  }
  // [collective] Gathers data from the captures of all ranks if one rank does not find its data in its own capture.
  // Does so, too, if no rank has protected anything, and others wrote the version: all of it is left over then. True,
  // with the reason as `outcome`: it does not match this rank's wants.
  base::Result<bool> describe_arrays(VersionReader& reader, base::Status& outcome) {
    const bool of_nobody = nothing_protected(reader) && reader.of_other_ranks();
    if (!reader.regions().arrays && !of_nobody) return false;
    PERDURE_TRY(const bool gathers, on_any_rank(job_.comm(), outcome && (of_nobody || !target_->elsewhere().empty())));
    if (!gathers) return false;
    outcome = agree(job_.comm(), outcome);
    if (!outcome) return false;
    const bool all = target_->wanted().all && reader.of_other_ranks();  // else each rank has looked at its own capture
    arrays_.emplace(job_, reader, regions_, capture::Wanted{target_->elsewhere(), all});
    outcome = arrays_->describe();
    if (!of_nobody || arrays_->local().empty() || !(outcome || arrays_->wrong_use())) return arrays_->wrong_use();
    outcome = base::fail(written_by_others("", reader.ranks(), job_.ranks(), arrays_->local()));
    return true;
  }

  Job& job_;
  capture::RegionTable& regions_;
  RegionPlaces& places_;
  std::unique_ptr<capture::MemoryTarget> target_;
  OwnPiece own_;
  std::optional<ArrayRestore> arrays_;  // of the version that is tried
};

class ToPart : public RestoreTarget {
 public:
  ToPart(Job& job, const capture::Region& target, std::uint32_t of, const capture::RegionTable& regions)
      : job_(job), target_(target), of_(of), regions_(regions) {}
  base::Status find(VersionReader& reader) override {
    return part_.emplace(job_, reader, of_, target_, regions_).describe();
  }
  base::Result<bool> is_misused(VersionReader& reader, bool fetched, base::Status& outcome) override {
    return told_to_all(job_, reader, fetched && part_ && part_->wrong_use(), outcome);
  }
  base::Status read(VersionReader& reader, const base::Status& ready) override {
    PERDURE_CHECK(agree(job_.comm(), ready ? base::caught("restore", [&] { return reader.commit_fetched(); }) : ready));
    return part_->read();
  }
  int source() const override { return part_ ? part_->source() : 0; }

 private:
  Job& job_;
  const capture::Region& target_;
  std::uint32_t of_;
  const capture::RegionTable& regions_;
  std::optional<PartRestore> part_;  // of the version that is tried
};

}  // namespace

std::unique_ptr<RestoreTarget> restores_to(Job& job, capture::Target& target) {
  return std::make_unique<ToCaller>(job, target);
}

std::unique_ptr<RestoreTarget> restores_to(Job& job, capture::RegionTable& regions, RegionPlaces& places,
                                           std::unique_ptr<capture::MemoryTarget> target) {
  return std::make_unique<ToRegions>(job, regions, places, std::move(target));
}

std::unique_ptr<RestoreTarget> restores_to(Job& job, const capture::Region& target, std::uint32_t of,
                                           const capture::RegionTable& regions) {
  return std::make_unique<ToPart>(job, target, of, regions);
}

bool is_about_the_version(base::ErrorCode code) {
  return code == PERDURE_CORRUPT || code == PERDURE_INCOMPLETE || code == PERDURE_NOT_FOUND ||
         code == PERDURE_PEER_FAILED;
}

base::Result<RestoreOutcome> restore_chosen(Job& job, VersionReader& reader, RestoreTarget& target) {
  base::Status outcome = reader.fetch();
  const bool fetched = outcome.has_value();  // the same on all ranks
  if (outcome) outcome = base::caught("restore", [&] { return target.find(reader); });
  PERDURE_TRY(bool misused, target.is_misused(reader, fetched, outcome));
  if (!misused) {
    os::crash_point(os::CrashPoint::restore_located);
    outcome = target.read(reader, outcome);
    os::crash_point(os::CrashPoint::restore_before_agree);
    PERDURE_TRY(misused, target.refuses());
  }
  reader.release();
  RestoreOutcome all{agree(job.comm(), outcome), misused};
  all.touched = fetched && !misused;
  if (!all.status && !misused) {
    PERDURE_TRY(all.hindered, on_any_rank(job.comm(), !outcome && !is_about_the_version(outcome.error().code)));
  }
  all.source = (reader.fetched() ? kFromNodes : 0) | target.source();
  if (all.status) target.restored();
  return all;
}

}  // namespace perdure::client
