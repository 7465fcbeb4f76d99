// These are the calls of a handle; restore() is in restore.cpp.
#include "client/session.hpp"

#include <algorithm>
#include <utility>

#include "client/array_restore.hpp"
#include "client/branch_to_write.hpp"
#include "client/choose_latest.hpp"
#include "client/close.hpp"
#include "client/levels.hpp"
#include "client/mapped_regions.hpp"
#include "client/meeting.hpp"
#include "client/messages.hpp"
#include "client/version_reader.hpp"
#include "client/write/direct_write.hpp"
#include "comm/patience.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {
namespace {

// Limits for one rank: one message must be able to describe them.
constexpr std::uint64_t kMaxChunks = 1 << 20;
constexpr std::size_t kMaxRegions = 1'000'000;

std::uint64_t seconds_to_ns(double seconds) { return seconds <= 0 ? 0 : static_cast<std::uint64_t>(seconds * 1e9); }

}  // namespace

Session::Session() { progress_.restored_version = -1; }

base::Result<std::unique_ptr<Session>> Session::open(std::unique_ptr<comm::Communicator> comm, const char* options,
                                                     const std::vector<std::string>& settings) {
  std::unique_ptr<Session> session;
  PERDURE_CHECK(agree_after(*comm, "perdure", [&]() -> base::Status {
    session.reset(new Session);
    return {};
  }));
  PERDURE_TRY(session->job_, Job::open(std::move(comm), options, settings));
  session->places_.emplace(session->job_->config());
  session->on_write_.emplace(*session->job_, session->regions_, *session->places_);
  session->due_.emplace(session->job_->config());
  return session;
}

// No machine has that much memory, and the tables for so many chunks would exhaust it. So it is refused before anything
// is allocated.
base::Status Session::check_chunks(const capture::Region& region) const {
  std::uint64_t bytes = 0;
  const capture::Region* replaced = regions_.find(region.id);
  const std::uint64_t others = regions_.bytes() - (replaced == nullptr ? 0 : replaced->bytes());
  const bool huge = __builtin_mul_overflow(region.element_bytes, region.count, &bytes) ||
                    __builtin_add_overflow(bytes, others, &bytes);
  if (!huge && bytes / std::max<std::uint64_t>(job_->engine().chunk_bytes(), 1) < kMaxChunks) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "region " + std::to_string(region.id),
                    "with it this rank would need more than " + std::to_string(kMaxChunks) + " chunks",
                    "check that the count is not a negative number, or raise chunk_bytes");
}

base::Status Session::protect(const capture::Region& region) {
  PERDURE_CHECK(check_chunks(region));
  if (regions_.find(region.id) != nullptr) on_write_->end_copying();
  if (regions_.regions().size() == kMaxRegions && regions_.find(region.id) == nullptr)
    return base::fail(PERDURE_INVALID_ARGUMENT, "region " + std::to_string(region.id),
                      "this rank has " + std::to_string(kMaxRegions) + " regions already, the most there can be",
                      "put what lies side by side in memory into one region");
  followed_.make_way(region, regions_);
  PERDURE_CHECK(regions_.protect(region));
  followed_.forget(region.id);
  job_->engine().expect(regions_.bytes(), regions_.has_parts());
  return {};
}

base::Status Session::unprotect(std::int32_t id) {
  on_write_->end_copying();  // its memory may be given back
  PERDURE_CHECK(regions_.unprotect(id));
  followed_.forget(id);
  job_->engine().expect(regions_.bytes(), regions_.has_parts());
  return {};
}

// [local] Comes before all ranks agree on anything, so that a region that is nowhere is an error of all.
base::Status Session::find_regions() {
  PERDURE_TRY(const bool moved,
              followed_.update(regions_, [&](const capture::Region& region) { return check_chunks(region); }));
  if (moved) job_->engine().expect(regions_.bytes(), regions_.has_parts());
  return {};
}

// A request that arrives during the call asks for the next checkpoint.
base::Status Session::checkpoint_when_asked(std::string_view name, std::int64_t version, capture::Source* source) {
  const std::uint64_t asked = due_->asked();
  const base::Status outcome = collective([&] { return checkpoint_all(std::string(name), version, source); });
  if (outcome) due_->served(asked);
  note_name(name);
  return outcome;
}

// Notes the name after a first start, too, which had nothing to restore.
void Session::note_name(std::string_view name) {
  base::attempt([&] {
    if (segment::check_name(name)) due_->uses(name);
  });
}

// Checks everything that this rank can tell by itself.
base::Status Session::may_begin(const std::string& name, std::int64_t version, const capture::Source* source) {
  PERDURE_CHECK(followed_.take_refusal());
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_version(version));
  if (source != nullptr) return {};
  PERDURE_CHECK(find_regions());
  return check_mapped(regions_, MemoryUse::capture);
}

base::Status Session::checkpoint_all(const std::string& name, std::int64_t version, capture::Source* source) {
  const std::uint64_t begun = os::monotonic_ns();
  os::crash_point(os::CrashPoint::checkpoint_begin);
  tell_step(begun);
  SmallWrite small(*job_, regions_, *places_, next_, name, begun);
  Opening opening{Operation::checkpoint, name, version};
  segment::VersionId id{name, static_cast<std::uint64_t>(version), {}};
  const base::Status ready = base::caught("checkpoint", [&]() -> base::Status {
    PERDURE_CHECK(may_begin(name, version, source));
    return describe(opening, small, source != nullptr);
  });
  AheadOfOpening* const ahead = small.ahead(opening, ready.has_value());
  PERDURE_TRY(const Opened opened, job_->begin(std::move(opening), ready, ahead));
  id.attempt = opened.attempt;
  const base::Status outcome = write(id, opened, small, source);
  small.keep_next(name, opened);
  os::crash_point(os::CrashPoint::checkpoint_committed);
  if (outcome && !on_write_->in_flight()) (void)on_write_->note_captured(id);
  // A rank that failed at its commit would not wait with the others.
  if (replicates_in_call(*job_) && agree(job_->comm(), outcome))
    (void)job_->group().wait_node_level(id, seconds_to_ns(job_->config().real("checkpoint.timeout")));
  left_ns_ = os::monotonic_ns();
  progress_.last_blocking_s = static_cast<double>(left_ns_ - begun) * 1e-9;
  return outcome;
}

// [local] Tells what the others have to know of this rank, and from rank 0 the attempts at this version and the next.
base::Status Session::describe(Opening& opening, SmallWrite& small, bool of_source) {
  plan::Branch branch = plan::kFirstBranch;
  if (job_->rank() == 0) {
    PERDURE_TRY(branch, draw_attempt(opening, small));
  }
  opening.regions = arrays_.news(regions_);
  opening.next.refused = of_source || on_write_->applies() || !small.may_stage(opening.regions);
  if (job_->rank() == 0 && !opening.next.refused) opening.next.attempt = attempt_on(branch, opening.name);
  return {};
}

segment::Attempt Session::attempt_on(plan::Branch branch, const std::string& name) {
  return {job_->known().next_attempt(name, os::wall_clock_ns()), plan::nonce_on(branch, os::random_u64())};
}

// Draws an attempt on the branch that is written, at rank 0.
base::Result<plan::Branch> Session::draw_attempt(Opening& opening, SmallWrite& small) {
  const std::string& name = opening.name;
  PERDURE_CHECK(job_->hold(name, NameClaims::Access::write));
  PERDURE_TRY(const plan::Branch branch, branch_to_write(*job_, name));
  small.check(name, branch);
  opening.attempt = attempt_on(branch, name);
  // A version is written once: an existing one is never overwritten silently (option checkpoint.replace).
  if (!job_->config().boolean("checkpoint.replace"))
    PERDURE_CHECK(job_->known().check_free(name, static_cast<std::uint64_t>(opening.version)));
  return branch;
}

// [collective] Writes this rank's piece by the protocol of the call.
base::Status Session::write(const segment::VersionId& id, const Opened& opened, SmallWrite& small,
                            capture::Source* source) {
  const bool staged = opened.ahead == StagedAhead::by_all;
  if (!staged) PERDURE_CHECK(arrays_.agree(job_->comm(), opened.regions, ArrayAgreement::For::checkpoint, regions_));
  os::crash_point(os::CrashPoint::checkpoint_agreed);
  DirectWrite direct(*job_, regions_, *places_, source);
  Protocol* protocol = &direct;
  if (staged)
    protocol = &small;
  else if (source == nullptr && on_write_->applies())
    protocol = &*on_write_;
  const base::Status outcome = protocol->write(id, opened);
  progress_.last_bytes = protocol->bytes().value_or(progress_.last_bytes);
  return outcome;
}

// The next call finds out about a lost engine.
void Session::tell_step(std::uint64_t entered_ns) {
  const std::uint64_t left_ns = std::exchange(left_ns_, 0);
  if (left_ns == 0 || !job_->engine().connected()) return;
  (void)base::caught("engine", [&] { return job_->engine().channel().tell(ipc::Step{entered_ns - left_ns}); });
}

base::Result<std::uint64_t> Session::latest(std::string_view of_name, Adopt goes_on) {
  return collective([&]() -> base::Result<std::uint64_t> {
    const std::string name(of_name);
    VersionReader reader(*job_);
    base::Status ready = segment::check_name(name);
    if (ready) ready = job_->hold(name, NameClaims::Access::read);
    Opening opening{Operation::latest, name, -1};
    std::vector<std::int32_t> all;
    for (const auto& entry : regions_.regions()) all.push_back(entry.first);
    tell_regions(opening, {}, all);
    PERDURE_CHECK(choose_latest(*job_, reader, opening, ready, regions_));
    latest_ = Restored{reader.id(), 0, reader.passed_over()};
    if (goes_on == Adopt::yes && !job_->known().last(name)) {
      job_->known().went_back(reader.id());
      go_on_from(*job_, reader.id());
    }
    return reader.id().version;
  });
}

// [collective] Chooses and fetches the version of a question about its content. `fetched` is the same on all ranks.
base::Status Session::fetch(VersionReader& reader, const Opening& opening, base::Status& fetched) {
  base::Status ready = segment::check_name(opening.name);
  if (ready) ready = check_version(opening.version, true);
  if (ready) ready = job_->hold(opening.name, NameClaims::Access::read);
  do {
    PERDURE_CHECK(reader.choose(opening, ready));
    fetched = reader.fetch();
  } while (!fetched && reader.leave_to_store(fetched.error()));
  return {};
}

base::Result<segment::RegionEntry> Session::stored_size(std::string_view name, std::int64_t version, std::int32_t id) {
  return collective([&] { return read_size({Operation::stored_size, std::string(name), version}, id); });
}

base::Result<segment::RegionEntry> Session::read_size(Opening opening, std::int32_t id) {
  opening.regions.local = true;  // memory of one rank
  VersionReader reader(*job_);
  base::Status fetched;
  PERDURE_CHECK(fetch(reader, opening, fetched));
  std::vector<segment::RegionEntry> entries;
  PERDURE_CHECK(agree_after(job_->comm(), "restore", [&]() -> base::Status {
    const auto located = base::caught("restore", [&]() -> base::Status {
      PERDURE_CHECK(fetched);
      PERDURE_CHECK(reader.commit_fetched());
      PERDURE_TRY(const auto* piece, reader.locate(job_->rank()));
      entries = piece->regions;
      return {};
    });
    reader.release();
    return located;
  }));
  const std::size_t found = capture::entry_for(regions_, entries, id);
  if (found < entries.size()) return entries[found];
  const auto* region = regions_.find(id);
  return base::fail(PERDURE_MISMATCH, region == nullptr ? "region " + std::to_string(id) : region->text(),
                    "it is not part of " + reader.id().text());
}

base::Result<segment::ArrayEntry> Session::stored_array(std::string_view name, std::int64_t version, std::int32_t id) {
  return collective([&]() -> base::Result<segment::ArrayEntry> {
    VersionReader reader(*job_);
    base::Status fetched;
    PERDURE_CHECK(fetch(reader, {Operation::stored_size, std::string(name), version, kPart}, fetched));
    ArrayRestore arrays(*job_, reader, regions_, {});
    const base::Status described = fetched ? arrays.describe() : fetched;
    (void)base::caught("restore", [&]() -> base::Status { return reader.commit_fetched(); });
    reader.release();
    PERDURE_CHECK(described);
    return arrays.array(id);
  });
}

base::Status Session::wait(std::string_view name, std::int64_t version, int level, double timeout_s) {
  left_ns_ = 0;  // the time between checkpoints now includes more than the application's own
  return collective([&] {
    // Other ranks may not know of a failure, and make the exchange of a wait.
    return wait_level(*job_, std::string(name), version, level, timeout_s, on_write_->failure(name, version));
  });
}

base::Result<perdure_level> Session::level_reached(const std::string& name, std::int64_t version) {
  const auto alone = on_write_->engine_alone();
  if (on_write_->in_flight(name, version)) return PERDURE_LEVEL_NONE;
  return client::level_reached(*job_, name, version);
}

base::Status Session::progress(perdure_progress& known) {
  const auto alone = on_write_->engine_alone();
  const base::Status asked = read_progress(*job_, progress_);
  known = progress_;
  return asked;
}

base::Result<std::string> Session::next_report() {
  const auto alone = on_write_->engine_alone();
  return client::next_report(*job_);
}

base::Status Session::retire(std::string_view name, std::int64_t version) {
  return collective([&] { return retire_version(*job_, std::string(name), version); });
}

base::Result<bool> Session::any(bool here, const MeetingPlace* at) {
  const comm::Patience patience(at == nullptr ? 0 : at->seconds);
  if (at != nullptr)  // a capture that ends here is no exchange of the call
    if (const auto finished = on_write_->finish(); !finished && finished.error().code == PERDURE_TIMEOUT)
      return base::fail(late_at(*at, finished.error()));
  return collective([&]() -> base::Result<bool> {
    if (at != nullptr) return meet_at(*job_, *at, here);
    Opening opening;
    opening.operation = Operation::any;
    opening.here = here;
    PERDURE_TRY(const Opened opened, job_->exchange(opening, {}));
    return opened.any_here;
  });
}

// A program asks in every step: a capture in flight goes on meanwhile.
base::Result<unsigned> Session::due() {
  return job_->comm().call([&]() -> base::Result<unsigned> {
    Opening opening;
    opening.operation = Operation::due;
    opening.due = due_->here(job_->rank() == 0 ? &job_->store() : nullptr);
    PERDURE_TRY(const Opened opened, job_->exchange(opening, {}));
    return opened.due;
  });
}

base::Status Session::close(Closing closing, const std::string& why) {
  const base::Status outcome =
      closing == Closing::alone ? base::caught("close", [this] { return close_alone(); }) : close_together();
  // The rank that failed reports its failure.
  const bool speaks = !outcome && (outcome.error().code != PERDURE_PEER_FAILED || job_->rank() == 0);
  if (speaks && closing != Closing::by_owner)
    base::attempt([&] { Messages(job_->config()).say(why + ": " + outcome.error().text()); });
  return outcome;
}

base::Status Session::close_together() {
  const base::Status finished = on_write_->finish();
  bool met = false;
  const base::Status closed = collective([&] { return close_job(*job_, met); });
  if (!met) (void)base::caught("close", [&] { return close_job_alone(*job_); });  // acknowledged versions get stored
  return closed ? finished : closed;
}

// A version that all ranks have copied needs no other call. If some rank has not copied it, it is no version, and no
// rank was told of one.
base::Status Session::close_alone() {
  on_write_->end_copying();
  return close_job_alone(*job_);
}

}  // namespace perdure::client
