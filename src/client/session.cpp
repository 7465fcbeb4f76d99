// The calls of a handle. Restore: a version that fails verification is left for the next older one, by all ranks
// together (architecture, promises 1 and 2).
#include "client/session.hpp"

#include <algorithm>
#include <utility>

#include "client/levels.hpp"
#include "client/version_reader.hpp"
#include "client/version_writer.hpp"
#include "os/crash_point.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {
namespace {

// Of one rank: what one message can describe.
constexpr std::uint64_t kMaxChunks = 1 << 20;
constexpr std::size_t kMaxRegions = 1'000'000;
constexpr unsigned kMostLostEngines = 5;  // in one call
constexpr unsigned kMostRepairs = 2;      // of one version, in one call

std::uint64_t seconds_to_ns(double seconds) { return seconds <= 0 ? 0 : static_cast<std::uint64_t>(seconds * 1e9); }

// What was restored is a fact by now: that it cannot be noted is no reason to fail, and whoever looks for the note sees
// that there is none.
void record(const Job& job, const segment::VersionId& id) {
  const std::string directory = job.config().text("restore.record");
  if (directory.empty() || job.rank() != 0 || !os::make_directories(directory)) return;
  (void)os::write_file_atomically(directory + "/" + id.name + "@" + std::to_string(id.version), {});
}

}  // namespace

Session::Session(std::unique_ptr<Job> job) : job_(std::move(job)), process_(os::process_id()) {
  progress_.restored_version = -1;
}

base::Result<std::unique_ptr<Session>> Session::open(std::unique_ptr<comm::Communicator> comm, const char* options) {
  PERDURE_TRY(auto job, Job::open(std::move(comm), options));
  return std::unique_ptr<Session>(new Session(std::move(job)));
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
  if (regions_.regions().size() == kMaxRegions && regions_.find(region.id) == nullptr)
    return base::fail(PERDURE_INVALID_ARGUMENT, "region " + std::to_string(region.id),
                      "this rank has " + std::to_string(kMaxRegions) + " regions already, the most there can be",
                      "put what lies side by side in memory into one region");
  PERDURE_CHECK(regions_.protect(region));
  job_->engine().expect(regions_.bytes());
  return {};
}

base::Status Session::unprotect(std::int32_t id) {
  PERDURE_CHECK(regions_.unprotect(id));
  job_->engine().expect(regions_.bytes());
  return {};
}

base::Status Session::checkpoint(const std::string& name, std::int64_t version) {
  const std::uint64_t begun = os::monotonic_ns();
  os::crash_point(os::CrashPoint::checkpoint_begin);
  tell_step(begun);
  base::Status ready = segment::check_name(name);
  if (ready) ready = check_version(version);
  Opening opening{Operation::checkpoint, name, version};
  const auto number = static_cast<std::uint64_t>(version);
  if (job_->rank() == 0 && ready)
    ready = base::caught("checkpoint", [&]() -> base::Status {
      PERDURE_CHECK(job_->hold(name, NameClaims::Access::write));
      // Versions are written once: what exists is never overwritten silently (option checkpoint.replace).
      const bool replace = job_->config().boolean("checkpoint.replace");
      job_->known().observe(name, job_->store(), replace);
      opening.root_words[0] = job_->known().next_attempt(name, os::wall_clock_ns());
      opening.root_words[1] = os::random_u64();
      return replace ? base::Status() : job_->known().check_free(name, number);
    });
  PERDURE_TRY(const Opened opened, job_->begin(std::move(opening), ready));
  os::crash_point(os::CrashPoint::checkpoint_agreed);
  const segment::VersionId id{name, number, {opened.root_words[0], opened.root_words[1]}};
  const base::Status outcome = capture(id);
  os::crash_point(os::CrashPoint::checkpoint_committed);
  if (outcome && job_->rank() == 0) job_->known().written(id);
  if (outcome) job_->known().went_on_from(id);
  // Whoever failed at its commit would not wait with the others.
  if (job_->group().joined() && job_->config().boolean("redundancy.in_call") && agree(job_->comm(), outcome))
    (void)job_->group().wait_node_level(id, seconds_to_ns(job_->config().real("checkpoint.timeout")));
  left_ns_ = os::monotonic_ns();
  progress_.last_blocking_s = static_cast<double>(left_ns_ - begun) * 1e-9;
  progress_.last_bytes = regions_.bytes();
  return outcome;
}

// A lost engine is the next call's trouble.
void Session::tell_step(std::uint64_t entered_ns) {
  const std::uint64_t left_ns = std::exchange(left_ns_, 0);
  if (left_ns == 0 || entered_ns <= left_ns || !job_->engine().connected()) return;
  (void)base::caught("engine", [&] { return job_->engine().channel().tell(ipc::Step{entered_ns - left_ns}); });
}

base::Status Session::capture(const segment::VersionId& id) {
  std::optional<capture::MemorySource> source;
  std::optional<VersionWriter> writer;
  const base::Status captured = base::caught("checkpoint", [&]() -> base::Status {
    source.emplace(regions_);
    writer.emplace(*job_, *source);
    PERDURE_CHECK(writer->begin(id));
    for (std::size_t chunk = 0; chunk < writer->chunks(); ++chunk) PERDURE_CHECK(writer->put(chunk));
    return writer->stage();
  });
  os::crash_point(os::CrashPoint::checkpoint_staged);
  // All ranks know the outcome then, and tell their engine.
  const base::Status agreed = agree(job_->comm(), captured);
  return base::caught("checkpoint", [&]() -> base::Status {
    if (agreed) return writer->commit();
    if (writer) writer->abort();
    return agreed;
  });
}

base::Result<std::uint64_t> Session::latest(const std::string& name) {
  VersionReader reader(*job_);
  base::Status ready = segment::check_name(name);
  if (ready) ready = job_->hold(name, NameClaims::Access::read);
  PERDURE_CHECK(reader.choose({Operation::latest, name, -1}, ready));
  return reader.id().version;
}

base::Result<segment::RegionEntry> Session::stored_size(const std::string& name, std::int64_t version,
                                                        std::int32_t id) {
  base::Status ready = segment::check_name(name);
  if (ready) ready = check_version(version, true);
  if (ready) ready = job_->hold(name, NameClaims::Access::read);
  VersionReader reader(*job_);
  base::Status fetched;
  do {
    PERDURE_CHECK(reader.choose({Operation::stored_size, name, version}, ready));
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
  for (const auto& region : entries)
    if (region.id == id) return region;
  return base::fail(PERDURE_NOT_FOUND, "region " + std::to_string(id), "it is not part of " + reader.id().text());
}

struct Session::Outcome {
  base::Status status;     ///< of all ranks
  bool wrong_use = false;  ///< of the call, on some rank: no other version would help
  bool refused = false;    ///< on some rank, memory or the like: that says nothing about the version
  bool hindered = false;   ///< on some rank, by something else than damage: room, a device, a peer
};

// Or another rank knows the reason.
bool is_about_the_version(base::ErrorCode code) {
  return code == PERDURE_CORRUPT || code == PERDURE_INCOMPLETE || code == PERDURE_NOT_FOUND ||
         code == PERDURE_PEER_FAILED;
}

// The version that was chosen. Nothing is written to the application's memory before every rank has found that it fits.
base::Result<Session::Outcome> Session::restore_chosen(VersionReader& reader, capture::Target& target) {
  base::Status outcome = reader.fetch();
  std::vector<capture::ChunkRange> needed;
  bool wrong_use = false;
  const auto refused = [&outcome] {
    return !outcome && (outcome.error().code == PERDURE_NO_SPACE || outcome.error().code == PERDURE_INTERNAL);
  };
  const bool fetched = outcome.has_value();
  if (outcome)
    outcome = base::caught("restore", [&]() -> base::Status {
      PERDURE_TRY(const auto* piece, reader.locate(job_->rank()));
      auto accepted = target.accept(piece->regions);
      const auto code = accepted ? PERDURE_OK : accepted.error().code;
      if (code == PERDURE_MISMATCH || code == PERDURE_NOT_FOUND) wrong_use = true;
      if (!accepted) return base::fail(accepted.error());
      needed = std::move(*accepted);
      return {};
    });
  PERDURE_TRY(wrong_use, on_any_rank(job_->comm(), wrong_use));
  if (!wrong_use) {
    os::crash_point(os::CrashPoint::restore_located);
    if (outcome)
      outcome = base::caught("restore", [&]() -> base::Status {
        PERDURE_CHECK(reader.commit_fetched());
        return reader.restore(job_->rank(), needed, target);
      });
    os::crash_point(os::CrashPoint::restore_before_agree);
  }
  reader.release();
  Outcome all{agree(job_->comm(), outcome), wrong_use};
  if (!all.status) {
    PERDURE_TRY(all.refused, on_any_rank(job_->comm(), fetched && refused()));
    PERDURE_TRY(all.hindered, on_any_rank(job_->comm(), !outcome && !is_about_the_version(outcome.error().code)));
  }
  return all;
}

base::Status Session::restore(const std::string& name, std::int64_t version,
                              const std::optional<std::vector<std::int32_t>>& ids) {
  const std::uint64_t begun = os::monotonic_ns();
  left_ns_ = 0;  // what is between checkpoints now is not only the application's own time
  base::Status ready = segment::check_name(name);
  if (ready) ready = check_version(version, true);
  if (ready) ready = job_->hold(name, NameClaims::Access::read);
  os::crash_point(os::CrashPoint::restore_begin);
  VersionReader reader(*job_);
  std::optional<capture::MemoryTarget> target;
  if (ready)
    ready = base::caught("restore", [&]() -> base::Status {
      target.emplace(regions_, ids);
      return {};
    });
  std::map<segment::VersionId, unsigned> repairs;
  base::Status hindrance;  // of the newest version that could not be had, although nothing is said against it
  for (unsigned engines_lost = 0;;) {
    const base::Status chosen = reader.choose({Operation::restore, name, version}, ready);
    if (!chosen && !hindrance && is_about_the_version(chosen.error().code)) return hindrance;
    PERDURE_CHECK(chosen);
    PERDURE_TRY(const Outcome outcome, restore_chosen(reader, *target));
    if (outcome.wrong_use || outcome.refused) return outcome.status;
    if (outcome.status) break;
    // That an engine died says nothing about the version: what it held is still there for the next one.
    PERDURE_TRY(const bool engine_gone, job_->any_engine_gone());
    if (engine_gone && ++engines_lost < kMostLostEngines) {
      PERDURE_CHECK(job_->attach());
      continue;
    }
    if (!engine_gone && reader.leave_to_store(outcome.status.error())) continue;
    // What is damaged is set aside then: where other nodes keep something for it, it can be rebuilt; what only one
    // reader found damaged is read again.
    bool again = reader.repairable();
    if (!engine_gone) {
      PERDURE_TRY(const bool suspected, reader.read_again());
      again = again || suspected;
    }
    if (again && !engine_gone && ++repairs[reader.id()] <= kMostRepairs) continue;
    if (version >= 0 || engine_gone) return outcome.status;
    if (outcome.hindered && hindrance) hindrance = outcome.status;
    reader.exclude(outcome.status.error());
  }
  if (version >= 0) job_->known().went_back(reader.id());
  job_->known().went_on_from(reader.id());
  const BytesRead read = reader.bytes_read();
  progress_.restored_version = static_cast<std::int64_t>(reader.id().version);
  progress_.restore_source = (read.slots > 0 ? 1 : 0) | (read.store > 0 ? 2 : 0) | (reader.fetched() ? 4 : 0);
  PERDURE_CHECK(reader.replicate_again());
  record(*job_, reader.id());  // nobody is told of a restore that fails here after all
  progress_.last_restore_s = static_cast<double>(os::monotonic_ns() - begun) * 1e-9;
  os::crash_point(os::CrashPoint::restore_done);
  return {};
}

base::Status Session::wait(const std::string& name, std::int64_t version, int level, double timeout_s) {
  left_ns_ = 0;  // what is between checkpoints now is not only the application's own time
  return wait_level(*job_, name, version, level, timeout_s);
}

base::Result<perdure_level> Session::level_reached(const std::string& name, std::int64_t version) {
  return client::level_reached(*job_, name, version);
}

base::Status Session::progress(perdure_progress& known) {
  const base::Status asked = read_progress(*job_, progress_);
  known = progress_;
  return asked;
}

base::Result<std::string> Session::next_report() { return client::next_report(*job_); }

base::Status Session::retire(const std::string& name, std::int64_t version) {
  return retire_version(*job_, name, version);
}

base::Status Session::close() { return close_job(*job_); }

}  // namespace perdure::client
