#pragma once
// What an application process holds: the state behind a perdure_t. The C functions check arguments and call these;
// collective calls are those that perdure.h marks so. Every call is made under the handle's mutex (capi), so nothing
// here is thread-safe by itself.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/memory.hpp"
#include "client/array_agreement.hpp"
#include "client/capture_in_flight.hpp"
#include "client/job.hpp"
#include "client/piece_ahead.hpp"
#include "client/region_places.hpp"
#include "plan/capture_choice.hpp"

namespace perdure::client {

class VersionReader;

class Session {
 public:
  /// `settings` win over all others (config::effective_config).
  static base::Result<std::unique_ptr<Session>> open(std::unique_ptr<comm::Communicator> comm, const char* options,
                                                     const std::vector<std::string>& settings = {});

  ~Session();
  base::Status protect(const capture::Region& region);
  base::Status unprotect(std::int32_t id);
  base::Status name_thread(std::int32_t id) { return places_->name_thread(id); }
  base::Status set_label(std::int32_t id, const segment::Label& label) { return regions_.set_label(id, label); }
  // Collective calls ask for no memory before others may wait for this rank (exchanges.hpp).
  base::Status checkpoint(std::string_view name, std::int64_t version);
  /// Of what `source` describes once all ranks have agreed, instead of the protected regions.
  base::Status checkpoint(std::string_view name, std::int64_t version, capture::Source& source);
  base::Result<std::uint64_t> latest(std::string_view name);
  base::Result<segment::RegionEntry> stored_size(std::string_view name, std::int64_t version, std::int32_t id);
  /// Of a version of any number of ranks; without boxes.
  base::Result<segment::ArrayEntry> stored_array(std::string_view name, std::int64_t version, std::int32_t id);
  /// `ids` nothing: all protected regions.
  base::Status restore(std::string_view name, std::int64_t version,
                       const std::optional<std::span<const std::int32_t>>& ids);
  /// This rank's data, of whatever it is, to `target`. Of a version that fails `target` may have got a part; its
  /// accept() begins anew with the next one.
  base::Status restore(std::string_view name, std::int64_t version, capture::Target& target);
  /// Region `target.id` of rank `of` of those that wrote the version, to this rank's memory `target`.
  base::Status restore_part(std::string_view name, std::int64_t version, std::uint32_t of,
                            const capture::Region& target);
  base::Status wait(std::string_view name, std::int64_t version, int level, double timeout_s);
  base::Result<perdure_level> level_reached(const std::string& name, std::int64_t version);
  /// `known` has what this process knows by itself also where the engine does not answer.
  base::Status progress(perdure_progress& known);
  base::Result<std::string> next_report();
  base::Status retire(std::string_view name, std::int64_t version);
  /// Whether it is so on any rank.
  base::Result<bool> any(bool here);
  base::Status close();
  std::int32_t process() const { return process_; }
  std::uint32_t rank() const { return job_->rank(); }
  std::uint32_t ranks() const { return job_->ranks(); }

 private:
  Session();
  base::Status check_chunks(const capture::Region& region) const;
  void tell_step(std::uint64_t entered_ns);
  base::Status checkpoint_all(const std::string& name, std::int64_t version, capture::Source* source);
  bool may_stage_ahead(const RegionNews& news) const;
  void keep_next_attempt(const std::string& name, const Opened& opened, std::uint64_t drawn_ns);
  base::Status commit_ahead(PieceAhead& ahead);
  base::Status capture_agreed(const segment::VersionId& id, capture::Source* source, const RegionNews& news);
  base::Status capture(const segment::VersionId& id, capture::Source* source);
  bool on_write() const;
  base::Status capture_on_write(const segment::VersionId& id);
  void tell_hindered(CaptureInFlight& flight);
  base::Status note_captured(const segment::VersionId& id);
  base::Status finish_capture();
  /// [collective] As every collective call begins: what is in flight is finished first.
  template <class Body>
  auto collective(Body body) {
    (void)finish_capture();
    return job_->comm().call(std::move(body));
  }
  std::unique_lock<std::mutex> engine_alone() { return flight_ ? flight_->engine() : std::unique_lock<std::mutex>(); }
  base::Result<segment::ArrayEntry> read_array(const std::string& name, std::int64_t version, std::int32_t id);
  base::Result<segment::RegionEntry> read_size(const std::string& name, std::int64_t version, std::int32_t id);
  struct Outcome;
  void tell_regions(Opening& opening, const RegionNews& declared, const std::vector<std::int32_t>& wanted) const;
  base::Status restore_all(const std::string& name, std::int64_t version,
                           const std::optional<std::span<const std::int32_t>>& ids);
  using Attempt = std::function<base::Result<Outcome>(VersionReader& reader)>;
  base::Result<Outcome> restore_chosen(VersionReader& reader, capture::MemoryTarget& target);
  base::Result<Outcome> restore_chosen_to(VersionReader& reader, capture::Target& target);
  base::Result<Outcome> restore_chosen_part(VersionReader& reader, std::uint32_t of, const capture::Region& target);
  base::Result<Outcome> ended(VersionReader& reader, const base::Status& outcome, bool wrong_use, bool touched);
  base::Status restore_newest(VersionReader& reader, const Opening& opening, const base::Status& ready,
                              const Attempt& attempt);
  base::Status restored(VersionReader& reader, std::uint64_t begun);

  std::unique_ptr<Job> job_;
  capture::RegionTable regions_;
  std::optional<RegionPlaces> places_;  // from open() on
  ArrayAgreement arrays_;
  std::uint64_t left_ns_ = 0;  // the last checkpoint; 0: the time since says nothing
  perdure_progress progress_{};
  std::int32_t process_ = 0;
  std::unique_ptr<CaptureInFlight> flight_;                           // begun by the last checkpoint, and not agreed on
  std::optional<std::pair<segment::VersionId, base::Error>> failed_;  // the last that failed after its call
  std::string hindered_;                                              // why the last one was copied by its call
  plan::CaptureChoice choice_;                                        // of capture.mode=auto
  NextAttempt next_;
};

}  // namespace perdure::client
