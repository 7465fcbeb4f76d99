#include "client/write/on_write.hpp"

#include <utility>

#include "client/branch_to_write.hpp"
#include "client/mapped_regions.hpp"
#include "os/affinity.hpp"
#include "os/crash_point.hpp"

namespace perdure::client {

bool OnWrite::applies() const {
  return job_.config().text("capture.mode") != "copy" && !replicates_in_call(job_) && !job_.engine().paced();
}

bool OnWrite::in_flight(const std::string& name, std::int64_t version) {
  return flight_ && flight_->id().name == name && flight_->id().version == static_cast<std::uint64_t>(version) &&
         !flight_->committed();
}

void OnWrite::end_copying() {
  if (flight_) flight_->end();
}

// Uses the exchange that every checkpoint has at its end: it says whether all ranks are done, too.
base::Status OnWrite::write(const segment::VersionId& id, const Opened& /*opened*/) {
  bytes_.reset();
  const bool chooses = job_.config().text("capture.mode") == "auto";
  std::optional<os::WriteReach> reach;
  if (!chooses) reach = os::WriteReach::program;
  if (chooses && choice_.next()) reach = os::WriteReach::all;
  std::unique_ptr<CaptureInFlight> flight;
  bool whole = false;
  const base::Status begun = base::caught("checkpoint", [&]() -> base::Status {
    flight = std::make_unique<CaptureInFlight>(job_, id, regions_, places_);
    PERDURE_TRY(whole, flight->begin(reach));
    bytes_ = flight->bytes();
    if (flight->hindered() != hindered_) tell_hindered(*flight);
    return {};
  });
  const auto agreed = agree_on_both(job_.comm(), begun, {whole, !whole || !flight->busy()});
  if (agreed) job_.comm().last();
  return base::caught("checkpoint", [&]() -> base::Status {
    if (agreed && agreed->first) return flight->commit(agreed->second);
    if (agreed) {
      flight_ = std::move(flight);
      flight_->go_on();
      return {};
    }
    if (flight) {
      (void)flight->wait();
      flight->abort();
    }
    return base::fail(agreed.error());
  });
}

// Tells it once, not at every checkpoint.
void OnWrite::tell_hindered(CaptureInFlight& flight) {
  hindered_ = flight.hindered();
  if (hindered_.empty()) return;
  const auto engine = flight.engine();
  (void)job_.engine().channel().call(ipc::Note{"memory is copied by the checkpoint's call: " + hindered_});
}

base::Status OnWrite::finish() {
  if (!flight_) return {};
  const auto flight = std::move(flight_);
  const base::Status mine = base::caught("checkpoint", [&]() -> base::Status {
    const base::Status copied = flight->wait();
    const bool gone = !copied && copied.error().code == PERDURE_INVALID_ARGUMENT;
    if (gone) PERDURE_CHECK(check_mapped(regions_, MemoryUse::capture));  // names the region that is gone
    return copied;
  });
  os::crash_point(os::CrashPoint::checkpoint_staged);
  const auto agreed = base::caught("checkpoint", [&] { return agree_on(job_.comm(), mine, !flight->busy()); });
  base::Status outcome = base::caught("checkpoint", [&]() -> base::Status {
    if (agreed) return flight->commit(*agreed);
    if (!flight->abort()) (void)note_captured(flight->id());  // its engine had seen all of it: its number is taken
    if (!mine && job_.engine().connected())
      (void)job_.engine().channel().call(ipc::Note{flight->id().text() + " was not captured: " + mine.error().text()});
    return base::fail(agreed.error());
  });
  os::crash_point(os::CrashPoint::checkpoint_committed);
  // A failure to note it here changes nothing of that: no other rank knows of it.
  (void)base::caught("checkpoint", [&]() -> base::Status {
    if (!outcome) failed_.emplace(flight->id(), outcome.error());
    return outcome ? note_captured(flight->id()) : base::Status();
  });
  (void)base::caught("checkpoint", [&]() -> base::Status {
    const CopyCounts counts = flight->counts();
    const auto beside = job_.engine().prefaulter().cpus();
    choice_.met({counts.blocks, counts.waits, !beside.empty() && !(os::own_cpus() == beside)});
    return {};
  });
  return outcome;
}

base::Status OnWrite::note_captured(const segment::VersionId& id) {
  if (job_.rank() == 0) job_.known().written(id);
  go_on_from(job_, id);
  if (failed_ && failed_->first.name == id.name && failed_->first.version == id.version) failed_.reset();
  return {};
}

base::Status OnWrite::failure(std::string_view name, std::int64_t version) const {
  if (!failed_ || failed_->first.name != name || failed_->first.version != static_cast<std::uint64_t>(version))
    return {};
  return base::fail(failed_->second);
}

}  // namespace perdure::client
