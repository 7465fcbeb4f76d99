// The calls of a handle; restore() is in restore.cpp.
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
#include "client/version_writer.hpp"
#include "comm/patience.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {
namespace {

// Of one rank: what one message can describe.
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
  session->due_.emplace(session->job_->config());
  return session;
}

// No memory is that large, and the tables for so many chunks would exhaust it: refused before anything is allocated.
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
  if (flight_ && regions_.find(region.id) != nullptr) flight_->end();
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
  if (flight_) flight_->end();  // its memory may be given back
  PERDURE_CHECK(regions_.unprotect(id));
  followed_.forget(id);
  job_->engine().expect(regions_.bytes(), regions_.has_parts());
  return {};
}

// [local] Before all ranks agree on anything, so that a region that is nowhere is an error of all.
base::Status Session::find_regions() {
  PERDURE_TRY(const bool moved,
              followed_.update(regions_, [&](const capture::Region& region) { return check_chunks(region); }));
  if (moved) job_->engine().expect(regions_.bytes(), regions_.has_parts());
  return {};
}

base::Status Session::checkpoint(std::string_view name, std::int64_t version) {
  return checkpoint_when_asked(name, version, nullptr);
}

base::Status Session::checkpoint(std::string_view name, std::int64_t version, capture::Source& source) {
  return checkpoint_when_asked(name, version, &source);
}

// What asks during the call asks for the next one.
base::Status Session::checkpoint_when_asked(std::string_view name, std::int64_t version, capture::Source* source) {
  const std::uint64_t asked = due_->asked();
  const base::Status outcome = collective([&] { return checkpoint_all(std::string(name), version, source); });
  if (outcome) due_->served(asked);
  note_name(name);
  return outcome;
}

// Also of a first start, which had nothing to restore.
void Session::note_name(std::string_view name) {
  (void)base::caught("perdure", [&]() -> base::Status {
    if (segment::check_name(name)) due_->uses(name);
    return {};
  });
}

// What this rank can tell by itself.
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
  base::Status ready = base::caught("checkpoint", [&] { return may_begin(name, version, source); });
  Opening opening{Operation::checkpoint, name, version};
  segment::VersionId id{name, static_cast<std::uint64_t>(version), {}};
  auto next = next_.take(name, begun);
  plan::Branch branch = plan::kFirstBranch;  // at rank 0
  if (job_->rank() == 0 && ready)
    ready = base::caught("checkpoint", [&]() -> base::Status {
      PERDURE_TRY(branch, draw_attempt(opening, next));
      return {};
    });
  if (ready)
    ready = base::caught("checkpoint", [&]() -> base::Status {
      opening.regions = arrays_.news(regions_);
      opening.wish = source != nullptr || !may_stage_ahead(opening.regions);
      if (job_->rank() != 0 || opening.wish) return {};
      opening.next_words[0] = job_->known().next_attempt(name, os::wall_clock_ns());
      opening.next_words[1] = plan::nonce_on(branch, os::random_u64());
      return {};
    });
  std::optional<PieceAhead> ahead;
  if (next)
    (void)base::caught("checkpoint", [&]() -> base::Status {
      id.attempt = next->attempt;
      ahead.emplace(*job_, regions_, *places_, id);
      if (!ready || opening.wish || !next->lasts) ahead->leave_out();
      return {};
    });
  PERDURE_TRY(const Opened opened, job_->begin(std::move(opening), ready, ahead ? &*ahead : nullptr));
  id.attempt = {opened.root_words[0], opened.root_words[1]};
  const bool ahead_of_all = opened.ahead == StagedAhead::by_all;
  const bool in_step = !opened.any_wish && (ahead_of_all || opened.ahead == StagedAhead::not_told);
  const base::Status outcome =
      ahead_of_all ? commit_ahead(*ahead, !opened.any_busy) : capture_agreed(id, source, opened.regions);
  // Of the attempt's time rank 0 knows best how old it is, and one rank that does not stage is enough.
  if (in_step) keep_next_attempt(name, opened, job_->rank() == 0 ? begun : os::monotonic_ns());
  os::crash_point(os::CrashPoint::checkpoint_committed);
  if (outcome && !flight_) (void)note_captured(id);
  // Whoever failed at its commit would not wait with the others.
  if (job_->group().joined() && job_->config().boolean("redundancy.in_call") && agree(job_->comm(), outcome))
    (void)job_->group().wait_node_level(id, seconds_to_ns(job_->config().real("checkpoint.timeout")));
  left_ns_ = os::monotonic_ns();
  progress_.last_blocking_s = static_cast<double>(left_ns_ - begun) * 1e-9;
  return outcome;
}

// At rank 0: an attempt on the branch that is written, and whether the one that was drawn before is still good.
base::Result<plan::Branch> Session::draw_attempt(Opening& opening, std::optional<NextAttempt::Known>& next) {
  const std::string& name = opening.name;
  PERDURE_CHECK(job_->hold(name, NameClaims::Access::write));
  PERDURE_TRY(const plan::Branch branch, branch_to_write(*job_, name));
  if (next)
    next->lasts = next->lasts && job_->known().is_newest(name, next->attempt.created_ns) &&
                  plan::branch_of(next->attempt.nonce) == branch;
  opening.root_words[0] = job_->known().next_attempt(name, os::wall_clock_ns());
  opening.root_words[1] = plan::nonce_on(branch, os::random_u64());
  // Versions are written once: what exists is never overwritten silently (option checkpoint.replace).
  if (!job_->config().boolean("checkpoint.replace"))
    PERDURE_CHECK(job_->known().check_free(name, static_cast<std::uint64_t>(opening.version)));
  return branch;
}

// What is little, and is the same to the engine whatever the other ranks have.
bool Session::may_stage_ahead(const RegionNews& news) const {
  const bool in_call = job_->group().joined() && job_->config().boolean("redundancy.in_call");
  return regions_.bytes() <= ipc::kMostInMessage && !news.arrays && !news.declared.changed && !on_write() && !in_call &&
         !job_->engine().paced();
}

// Who could not keep it stages with the others, after the opening.
void Session::keep_next_attempt(const std::string& name, const Opened& opened, std::uint64_t drawn_ns) {
  (void)base::caught("checkpoint", [&]() -> base::Status {
    next_.told(name, {opened.next_words[0], opened.next_words[1]}, drawn_ns);
    return {};
  });
}

base::Status Session::commit_ahead(PieceAhead& ahead, bool wanted) {
  os::crash_point(os::CrashPoint::checkpoint_agreed);
  progress_.last_bytes = regions_.bytes();
  return base::caught("checkpoint", [&] { return ahead.commit(wanted); });
}

base::Status Session::capture_agreed(const segment::VersionId& id, capture::Source* source, const RegionNews& news) {
  PERDURE_CHECK(arrays_.agree(job_->comm(), news, ArrayAgreement::For::checkpoint, regions_));
  os::crash_point(os::CrashPoint::checkpoint_agreed);
  return capture(id, source);
}

// A lost engine is the next call's trouble.
void Session::tell_step(std::uint64_t entered_ns) {
  const std::uint64_t left_ns = std::exchange(left_ns_, 0);
  if (left_ns == 0 || !job_->engine().connected()) return;
  (void)base::caught("engine", [&] { return job_->engine().channel().tell(ipc::Step{entered_ns - left_ns}); });
}

base::Status Session::capture(const segment::VersionId& id, capture::Source* source) {
  if (source == nullptr && on_write()) return capture_on_write(id);
  std::optional<PlacedSource> regions;
  std::optional<VersionWriter> writer;
  const base::Status captured = base::caught("checkpoint", [&]() -> base::Status {
    if (source == nullptr) source = &regions.emplace(regions_, *places_);
    writer.emplace(*job_, *source);
    PERDURE_CHECK(writer->begin(id));
    PERDURE_CHECK(writer->put_all());
    PERDURE_CHECK(source->was_read());
    progress_.last_bytes = writer->bytes();
    return writer->stage();
  });
  os::crash_point(os::CrashPoint::checkpoint_staged);
  // All ranks know the outcome then, and tell their engine.
  const auto agreed = agree_on(job_->comm(), captured, writer && !writer->busy());
  const bool waits = job_->group().joined() && job_->config().boolean("redundancy.in_call");
  if (agreed && !waits) job_->comm().last();
  return base::caught("checkpoint", [&]() -> base::Status {
    if (agreed) return writer->commit(*agreed);
    if (writer) writer->abort();
    return base::fail(agreed.error());
  });
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

base::Result<segment::RegionEntry> Session::stored_size(std::string_view name, std::int64_t version, std::int32_t id) {
  return collective([&] { return read_size(std::string(name), version, id); });
}

base::Result<segment::RegionEntry> Session::read_size(const std::string& name, std::int64_t version, std::int32_t id) {
  base::Status ready = segment::check_name(name);
  if (ready) ready = check_version(version, true);
  if (ready) ready = job_->hold(name, NameClaims::Access::read);
  VersionReader reader(*job_);
  base::Status fetched;
  Opening opening{Operation::stored_size, name, version};
  opening.regions.local = true;  // what one rank has
  do {
    PERDURE_CHECK(reader.choose(opening, ready));
    fetched = reader.fetch();
  } while (!fetched && reader.leave_to_store(fetched.error()));
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
  return collective([&] { return read_array(std::string(name), version, id); });
}

base::Result<segment::ArrayEntry> Session::read_array(const std::string& name, std::int64_t version, std::int32_t id) {
  base::Status ready = segment::check_name(name);
  if (ready) ready = check_version(version, true);
  if (ready) ready = job_->hold(name, NameClaims::Access::read);
  VersionReader reader(*job_);
  base::Status fetched;
  do {
    Opening opening{Operation::stored_size, name, version};
    opening.detail = kPart;
    PERDURE_CHECK(reader.choose(opening, ready));
    fetched = reader.fetch();
  } while (!fetched && reader.leave_to_store(fetched.error()));
  ArrayRestore arrays(*job_, reader, regions_, {});
  const base::Status described = fetched ? arrays.describe() : fetched;
  (void)base::caught("restore", [&]() -> base::Status { return reader.commit_fetched(); });
  reader.release();
  PERDURE_CHECK(described);
  return arrays.array(id);
}

base::Status Session::wait(std::string_view name, std::int64_t version, int level, double timeout_s) {
  left_ns_ = 0;  // what is between checkpoints now is not only the application's own time
  return collective([&] {
    // Other ranks may not know of it, and make the exchange of a wait.
    base::Status ready;
    if (failed_ && failed_->first.name == name && failed_->first.version == static_cast<std::uint64_t>(version))
      ready = base::fail(failed_->second);
    return wait_level(*job_, std::string(name), version, level, timeout_s, ready);
  });
}

base::Result<perdure_level> Session::level_reached(const std::string& name, std::int64_t version) {
  const auto alone = engine_alone();
  const bool in_flight = flight_ && flight_->id().name == name &&
                         flight_->id().version == static_cast<std::uint64_t>(version) && !flight_->committed();
  if (in_flight) return PERDURE_LEVEL_NONE;
  return client::level_reached(*job_, name, version);
}

base::Status Session::progress(perdure_progress& known) {
  const auto alone = engine_alone();
  const base::Status asked = read_progress(*job_, progress_);
  known = progress_;
  return asked;
}

base::Result<std::string> Session::next_report() {
  const auto alone = engine_alone();
  return client::next_report(*job_);
}

base::Status Session::retire(std::string_view name, std::int64_t version) {
  return collective([&] { return retire_version(*job_, std::string(name), version); });
}

base::Result<bool> Session::any(bool here, const MeetingPlace* at) {
  const comm::Patience patience(at == nullptr ? 0 : at->seconds);
  if (at != nullptr)  // what ends here is no exchange of the call
    if (const auto finished = finish_capture(); !finished && finished.error().code == PERDURE_TIMEOUT)
      return base::fail(late_at(*at, finished.error()));
  return collective([&]() -> base::Result<bool> {
    if (at != nullptr) return meet_at(*job_, *at, here);
    Opening opening;
    opening.operation = Operation::any;
    opening.wish = here;
    PERDURE_TRY(const Opened opened, job_->exchange(opening, {}));
    return opened.any_wish;
  });
}

// A program asks in every step: what is being captured goes on meanwhile.
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
  // Of what another rank could not do, that rank speaks.
  const bool speaks = !outcome && (outcome.error().code != PERDURE_PEER_FAILED || job_->rank() == 0);
  if (speaks && closing != Closing::by_owner)
    (void)base::caught("messages", [&]() -> base::Status {
      Messages(job_->config()).say(why + ": " + outcome.error().text());
      return {};
    });
  return outcome;
}

base::Status Session::close_together() {
  const base::Status finished = finish_capture();
  bool met = false;
  const base::Status closed = collective([&] { return close_job(*job_, met); });
  if (!met) (void)base::caught("close", [&] { return close_job_alone(*job_); });  // what is acknowledged gets stored
  return closed ? finished : closed;
}

// What all ranks have copied is a version without another call. What some have not is none, and nobody was told of one.
base::Status Session::close_alone() {
  if (flight_) flight_->end();
  return close_job_alone(*job_);
}

}  // namespace perdure::client
