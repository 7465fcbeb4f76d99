#pragma once
// A Session is the state behind a perdure_t in an application process. The C functions check arguments and call these.
// The collective calls are those that perdure.h marks so. Every call is made under the handle's mutex (capi), so
// nothing here is thread-safe by itself.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/memory.hpp"
#include "client/array_agreement.hpp"
#include "client/due.hpp"
#include "client/followed_regions.hpp"
#include "client/job.hpp"
#include "client/meeting.hpp"
#include "client/passed_over.hpp"
#include "client/region_places.hpp"
#include "client/write/on_write.hpp"
#include "client/write/piece_ahead.hpp"

namespace perdure::client {

class RestoreTarget;
class SmallWrite;
class VersionReader;

enum class Closing {
  by_owner,  ///< [collective]
  early,     ///< [collective] on behalf of the owner
  alone      ///< [local] The other ranks, and their communicator, may be gone. Do not destroy the session then.
};

/// The version that a restore took.
struct Restored {
  segment::VersionId id;
  int source = 0;  ///< the bits of perdure_progress::restore_source
  std::vector<PassedOver> passed_over;
};

class Session {
 public:
  /// Opens a session. `settings` win over all others (config::effective_config).
  static base::Result<std::unique_ptr<Session>> open(std::unique_ptr<comm::Communicator> comm, const char* options,
                                                     const std::vector<std::string>& settings = {});

  base::Status protect(const capture::Region& region);
  base::Status unprotect(std::int32_t id);
  base::Status name_thread(std::int32_t id) { return places_->name_thread(id); }
  /// The protected regions.
  capture::RegionTable& regions() { return regions_; }
  FollowedRegions& followed() { return followed_; }
  // Collective calls allocate nothing before the point at which others may wait for this rank (exchanges.hpp).
  base::Status checkpoint(std::string_view name, std::int64_t version) {
    return checkpoint_when_asked(name, version, nullptr);
  }
  /// Captures the data of `source`, once all ranks have agreed, instead of the protected regions.
  base::Status checkpoint(std::string_view name, std::int64_t version, capture::Source& source) {
    return checkpoint_when_asked(name, version, &source);
  }
  /// Says whether the first capture goes on from that version without a restore, as images of one process do.
  enum class Adopt { no, yes };
  base::Result<std::uint64_t> latest(std::string_view name, Adopt goes_on = Adopt::no);
  base::Result<segment::RegionEntry> stored_size(std::string_view name, std::int64_t version, std::int32_t id);
  /// Describes an array in a version of any number of ranks; without boxes.
  base::Result<segment::ArrayEntry> stored_array(std::string_view name, std::int64_t version, std::int32_t id);
  /// `ids` empty: all protected regions. `branch`: takes a version of this branch or of the line it went on from,
  /// whichever branch is the current one.
  base::Status restore(std::string_view name, std::int64_t version,
                       const std::optional<std::span<const std::int32_t>>& ids,
                       std::optional<std::string_view> branch = std::nullopt);
  /// Restores this rank's data, of any kind, to `target`. A version that fails may have filled a part of `target`; its
  /// accept() begins anew with the next one.
  base::Status restore(std::string_view name, std::int64_t version, capture::Target& target,
                       std::optional<std::string_view> branch = std::nullopt);
  /// Restores region `target.id` of rank `of` of the writers to this rank's memory `target`.
  base::Status restore_part(std::string_view name, std::int64_t version, std::uint32_t of,
                            const capture::Region& target);
  /// Describes the version that the last restore of this handle took, and those that it passed over. PERDURE_NOT_FOUND:
  /// no restore has succeeded.
  base::Result<Restored> restored() const;
  base::Status wait(std::string_view name, std::int64_t version, int level, double timeout_s);
  base::Result<perdure_level> level_reached(const std::string& name, std::int64_t version);
  /// Fills `known` with this process's own facts even if the engine does not answer.
  base::Status progress(perdure_progress& known);
  base::Result<std::string> next_report();
  base::Status retire(std::string_view name, std::int64_t version);
  /// Tells whether `here` is true on any rank; with `at`, ranks have to be there together.
  base::Result<bool> any(bool here, const MeetingPlace* at = nullptr);
  /// Gives bits of perdure_due_reason.
  base::Result<unsigned> due();
  /// Ends the session. A failure is printed if `messages` asks for it, except to the owner, who gets it returned.
  /// `why`: the reason of the end.
  base::Status close(Closing closing = Closing::by_owner, const std::string& why = {});
  std::uint32_t rank() const { return job_->rank(); }
  std::uint32_t ranks() const { return job_->ranks(); }

 private:
  Session();
  base::Status check_chunks(const capture::Region& region) const;
  base::Status find_regions();
  void tell_step(std::uint64_t entered_ns);
  base::Status may_begin(const std::string& name, std::int64_t version, const capture::Source* source);
  base::Status checkpoint_when_asked(std::string_view name, std::int64_t version, capture::Source* source);
  void note_name(std::string_view name);
  base::Status checkpoint_all(const std::string& name, std::int64_t version, capture::Source* source);
  base::Status describe(Opening& opening, SmallWrite& small, bool of_source);
  base::Result<plan::Branch> draw_attempt(Opening& opening, SmallWrite& small);
  segment::Attempt attempt_on(plan::Branch branch, const std::string& name);
  base::Status write(const segment::VersionId& id, const Opened& opened, SmallWrite& small, capture::Source* source);
  base::Status close_together();
  base::Status close_alone();
  /// [collective] Begins every collective call: it first finishes the capture in flight.
  template <class Body>
  auto collective(Body body) {
    (void)on_write_->finish();
    return job_->comm().call(std::move(body));
  }
  base::Status fetch(VersionReader& reader, const Opening& opening, base::Status& fetched);
  base::Result<segment::RegionEntry> read_size(Opening opening, std::int32_t id);
  void tell_regions(Opening& opening, const RegionNews& declared, const std::vector<std::int32_t>& wanted) const;
  using Prepare = std::function<base::Result<std::unique_ptr<RestoreTarget>>(Opening& opening)>;
  base::Status restore_to(Opening opening, base::Status ready, std::optional<std::string_view> branch,
                          const Prepare& prepare);
  base::Status restore_newest(VersionReader& reader, const Opening& opening, const base::Status& ready,
                              RestoreTarget* target);
  base::Status end_restore(VersionReader& reader, std::uint64_t begun);
  void tell_passed_over() const;

  std::unique_ptr<Job> job_;
  capture::RegionTable regions_;
  FollowedRegions followed_;
  std::optional<RegionPlaces> places_;  // set in open()
  ArrayAgreement arrays_;
  std::uint64_t left_ns_ = 0;  // end of the last checkpoint; 0: the time since says nothing
  perdure_progress progress_{};
  std::optional<OnWrite> on_write_;  // set in open()
  NextAttempt next_;
  std::optional<Restored> restored_;  // by the last restore
  std::optional<Restored> latest_;    // result of the last question for the latest
  std::optional<Due> due_;            // set in open()
};

}  // namespace perdure::client
