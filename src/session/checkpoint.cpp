// The capture (VeloC IPDPS'19, Algorithm 1): for every chunk ask the engine for a slot, copy and hash it there; then
// the agreement.
#include <algorithm>
#include <utility>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "plan/selection.hpp"
#include "segment/manifest_codec.hpp"
#include "session/session.hpp"
#include "session/slot_codec.hpp"

namespace perdure::session {
namespace {

std::uint64_t seconds_to_ns(double seconds) { return seconds <= 0 ? 0 : static_cast<std::uint64_t>(seconds * 1e9); }

base::Status check_version(std::int64_t version) {
  if (version >= 0) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "version " + std::to_string(version), "versions are not negative");
}

}  // namespace

base::Status Session::checkpoint(const std::string& name, std::int64_t version) {
  const std::uint64_t begun = os::monotonic_ns();
  os::crash_point(os::CrashPoint::checkpoint_begin);
  tell_step(begun);
  base::Status ready = segment::check_name(name);
  if (ready) ready = check_version(version);
  Opening opening{Operation::checkpoint, name, version};
  if (comm_->rank() == 0 && ready) {
    look_at_name(name);
    ready = check_version_free(name, static_cast<std::uint64_t>(version));
    std::uint64_t& newest = newest_attempt_[name];
    newest = opening.root_words[0] = plan::attempt_time(os::wall_clock_ns(), newest);
    opening.root_words[1] = os::random_u64();
  }
  if (ready) add_protected(opening);
  PERDURE_TRY(const Opened opened, begin(std::move(opening), ready));
  note_protected(name, opened.protected_ns);
  os::crash_point(os::CrashPoint::checkpoint_agreed);
  const segment::VersionId id{name, static_cast<std::uint64_t>(version), {opened.root_words[0], opened.root_words[1]}};
  const base::Status captured = capture(id);
  os::crash_point(os::CrashPoint::checkpoint_staged);
  const base::Status outcome = commit_or_abort(id, agree(*comm_, captured));
  os::crash_point(os::CrashPoint::checkpoint_committed);
  if (outcome && comm_->rank() == 0) taken_[name].insert(id.version);
  if (outcome && in_group_ && config_.boolean("redundancy.in_call"))
    (void)wait_protected(id, seconds_to_ns(config_.real("checkpoint.timeout")));
  left_ns_ = os::monotonic_ns();
  progress_.last_blocking_s = static_cast<double>(left_ns_ - begun) * 1e-9;
  progress_.last_bytes = regions_.bytes();
  return outcome;
}

// A lost engine is the next call's trouble.
void Session::tell_step(std::uint64_t entered_ns) {
  const std::uint64_t left_ns = std::exchange(left_ns_, 0);
  if (left_ns != 0 && entered_ns > left_ns && channel_.connected())
    (void)channel_.tell(ipc::Step{entered_ns - left_ns});
}

// Once for every name: what the tiers and the store have of it. A store that cannot be read now is the flush's trouble,
// not a reason to stop the application.
void Session::look_at_name(const std::string& name) {
  if (taken_.contains(name)) return;
  std::set<std::uint64_t>& versions = taken_[name] = whole_in_tiers_[name];
  const auto listings = store_->list(name);
  if (!listings) return;
  for (const auto& listing : *listings) {
    std::uint64_t& newest = newest_attempt_[name];
    newest = std::max(newest, listing.id.attempt.created_ns);
    if (config_.boolean("checkpoint.replace")) continue;
    if (listing.all_present() && store::read_version(*store_, listing)) versions.insert(listing.id.version);
  }
}

// Versions are written once: what exists is never overwritten silently (option checkpoint.replace).
base::Status Session::check_version_free(const std::string& name, std::uint64_t version) const {
  const auto known = taken_.find(name);
  if (config_.boolean("checkpoint.replace") || known == taken_.end() || !known->second.contains(version)) return {};
  return base::fail(PERDURE_EXISTS, name + " version " + std::to_string(version), "this version exists already",
                    "use a higher version, retire the old one, or set checkpoint.replace");
}

base::Status Session::capture(const segment::VersionId& id) {
  segment::Piece piece;
  piece.rank = rank();
  piece.chunk_bytes = chunk_bytes_;
  piece.regions = regions_.entries();
  const auto ranges = region::cut(regions_.bytes(), chunk_bytes_);
  // First of all: the others may have to wait for slots until every rank has said what it will write.
  PERDURE_CHECK(tell_begun(id, piece, ranges));
  PERDURE_CHECK(announce());
  ipc::Grant grant{id, 0, seconds_to_ns(config_.real("checkpoint.timeout")), {}, {}};
  // The next slot is asked for before the current chunk is copied, so that the engine's answer costs no time. An
  // emulated tier writes from the grant on: there it is asked for afterwards, so that no rank writes two chunks at
  // once.
  auto ask = [&](std::size_t i) -> base::Status {
    outstanding_ = 0;
    if (i >= ranges.size()) return {};
    grant.bytes = ranges[i].length;
    PERDURE_TRY(outstanding_, channel_.post(grant));
    return {};
  };
  PERDURE_CHECK(ask(0));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    PERDURE_TRY(const auto reply, channel_.await(std::exchange(outstanding_, 0)));
    PERDURE_TRY(auto slot, granted_slot(reply));
    os::crash_point(os::CrashPoint::checkpoint_slot_granted);
    if (!paced_) PERDURE_CHECK(ask(i + 1));
    PERDURE_TRY(const auto chunk, capture_somewhere(std::move(slot), ranges[i], grant));
    piece.chunks.push_back(chunk);
    os::crash_point(os::CrashPoint::checkpoint_chunk_written);
    PERDURE_CHECK(tell_written(id, i, chunk));
    if (outstanding_ == 0) PERDURE_CHECK(ask(i + 1));
  }
  os::crash_point(os::CrashPoint::checkpoint_before_stage);
  PERDURE_CHECK(channel_.call(ipc::Stage{id, static_cast<std::uint32_t>(comm_->size()), std::move(piece)}));
  return {};
}

base::Status Session::tell_begun(const segment::VersionId& id, segment::Piece piece,
                                 const std::vector<region::ChunkRange>& ranges) {
  for (const auto& range : ranges) piece.chunks.push_back({0, range.length, {}, 0});
  return channel_.tell(ipc::Begin{id, static_cast<std::uint32_t>(comm_->size()), std::move(piece), my_segments()});
}

base::Status Session::tell_written(const segment::VersionId& id, std::size_t index, const segment::ChunkEntry& chunk) {
  const ipc::Written written{
      id, rank(), static_cast<std::uint32_t>(index), chunk.place, chunk.offset, chunk.length, chunk.hash, paced_};
  if (!paced_) return channel_.tell(written);
  PERDURE_CHECK(channel_.call(written));
  return {};
}

// A slot that cannot be written (a full memory file system, a failing disk) is no reason to give up while another tier
// takes the chunk. Who waits for another one keeps none that is not written, so that nobody, not even this rank, waits
// for a slot that never comes back; therefore what was asked for ahead goes, too.
base::Result<segment::ChunkEntry> Session::capture_somewhere(tier::SlotAddress slot, region::ChunkRange range,
                                                             ipc::Grant& grant) {
  for (;;) {
    auto chunk = capture_chunk(slot, range);
    if (chunk) return chunk;
    if (std::find(grant.avoid.begin(), grant.avoid.end(), slot.tier) == grant.avoid.end())
      grant.avoid.push_back(slot.tier);
    grant.why = chunk.error().text();
    grant.bytes = range.length;
    PERDURE_CHECK(give_back(grant.id, slot));
    if (outstanding_ != 0) {
      const auto ahead = channel_.await(std::exchange(outstanding_, 0));
      const auto unused = ahead ? granted_slot(*ahead) : base::Result<tier::SlotAddress>(base::fail(ahead.error()));
      if (unused) PERDURE_CHECK(give_back(grant.id, *unused));
    }
    auto reply = channel_.call(grant);
    if (!reply) return base::fail(reply.error());
    PERDURE_TRY(slot, granted_slot(*reply));
  }
}

base::Status Session::give_back(const segment::VersionId& id, const tier::SlotAddress& slot) {
  return channel_.tell(ipc::GiveBack{id, slot.tier, slot.slot});
}

base::Result<segment::ChunkEntry> Session::capture_chunk(const tier::SlotAddress& slot, region::ChunkRange range) {
  if (auto prepared = slots_.prepare(slot, range.length); !prepared) return base::fail(prepared.error());
  base::Hasher hasher;
  std::uint64_t offset = 0;
  for (const auto& part : region::capture_parts(regions_, range)) {
    PERDURE_CHECK(slots_.write(slot, offset, base::ConstByteSpan(part.address, part.length), hasher));
    offset += part.length;
    os::crash_point(os::CrashPoint::checkpoint_chunk_half);
  }
  return segment::ChunkEntry{slot.slot, range.length, hasher.digest(), slot.tier};
}

std::vector<ipc::PlannedSegment> Session::my_segments() const {
  std::vector<ipc::PlannedSegment> segments;
  for (const auto& plan : plan::lay_out_segments(nodes_.node_of_rank, aggregation_))
    if (plan.node == nodes_.mine) segments.push_back({plan.index, plan.count, plan.ranks});
  return segments;
}

// All ranks know the outcome now and tell their engine. Where that message gets lost, settle() finds out the same.
base::Status Session::commit_or_abort(const segment::VersionId& id, const base::Status& outcome) {
  if (!outcome) {
    if (channel_.connected()) (void)channel_.call(ipc::Abort{id});
    // A slot that was asked for ahead: the engine has answered it by now, with a slot that it took back or with a
    // refusal.
    if (outstanding_ != 0 && channel_.connected()) (void)channel_.await(std::exchange(outstanding_, 0));
    return outcome;
  }
  os::crash_point(os::CrashPoint::checkpoint_before_commit);
  // An engine that dies here has the piece in its catalog: the checkpoint holds, and the next collective call settles
  // the rest.
  auto done = channel_.call(ipc::Commit{id, my_segments()});
  if (!done && done.error().code != PERDURE_UNAVAILABLE) return base::fail(done.error());
  return {};
}

}  // namespace perdure::session
