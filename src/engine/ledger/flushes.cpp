#include "engine/ledger/flushes.hpp"

#include <algorithm>

#include "os/crash_point.hpp"
#include "plan/lineage.hpp"

namespace perdure::engine {
namespace {

// A segment with a damaged piece fails, and later ones would not be tried. A segment that lacks a piece cannot be
// begun.
catalog::HeldVersion writable_first(catalog::HeldVersion held) {
  std::erase_if(held.segments, [&](const auto& segment) { return !segment.stored && !held.has_pieces(segment.ranks); });
  std::stable_partition(held.segments.begin(), held.segments.end(), [&](const auto& segment) {
    return segment.stored || HeldVersions::can_be_written(held, segment);
  });
  return held;
}

}  // namespace

std::optional<catalog::HeldVersion> Flushes::begin_attempt(const segment::VersionId& id) {
  const auto* held = node_.held(id);
  if (node_.versions.happens(id, VersionEvent::attempt)) node_.versions.at(id).bytes_flushed = 0;
  if (held != nullptr && held->committed) return writable_first(*held);
  const OpenCapture* open = captures_.find(id);
  if (open == nullptr || open->failure) return std::nullopt;
  return catalog::HeldVersion{id, open->ranks, open->pieces, false, open->segments, {}};
}

base::Status Flushes::note_begun(const segment::VersionId& id, const std::vector<catalog::LocalSegment>& segments) {
  const auto begun = node_.catalog.state().begun.find(id);
  if (begun != node_.catalog.state().begun.end() && begun->second == segments) return {};
  return node_.catalog.append(catalog::BegunRecord{id, segments});
}

std::optional<catalog::BegunRecord> Flushes::next_leftover() const {
  for (const auto& [id, segments] : node_.catalog.state().begun) {
    const auto* held = node_.held(id);
    const Version* version = node_.versions.find(id);
    const bool busy = version != nullptr && (version->by == FlushedBy::own_flush || version->capture);
    if (!busy && (held == nullptr || held->all_stored())) return catalog::BegunRecord{id, segments};
  }
  return std::nullopt;
}

std::optional<segment::VersionId> Flushes::next() {
  (void)held_.write_delayed_commits();  // a failure was reported when it first occurred
  const catalog::HeldVersion* best = nullptr;
  std::uint64_t best_order = 0;
  for (const auto& [id, held] : node_.catalog.state().versions) {
    const Version* version = node_.versions.find(id);
    const bool wants = version != nullptr && version->wants_flush() && !version->write_through();
    if (!wants || held_back(*version) || (best != nullptr && version->order >= best_order) || !may_follow(id)) continue;
    if (!HeldVersions::has_pieces_to_write(held)) {
      lost_with_its_tier(id);
      continue;
    }
    best = &held;
    best_order = version->order;
  }
  if (best == nullptr || waits_for_replication(best->id)) return std::nullopt;
  (void)node_.versions.happens(best->id, VersionEvent::attempt);
  return best->id;
}

void Flushes::lost_with_its_tier(const segment::VersionId& id) {
  const bool there = !node_.held(id)->unreachable.empty();
  base::Error error{PERDURE_CORRUPT, id.text(), "a piece of each segment that is not stored went with its tier",
                    "restore it, if redundancy keeps what was lost", false};
  if (there)
    error = {PERDURE_UNAVAILABLE, id.text(),
             "a piece of each segment that is not stored is on a tier that cannot be reached in this launch",
             "start again when it can; the engine's log says which it is", false};
  (void)node_.versions.happens(id, VersionEvent::give_up);
  node_.versions.at(id).error = error;
  if (!there) node_.reports.add(error.text());
}

void Flushes::give_up_unreachable() {
  for (const auto& [id, held] : node_.catalog.state().versions) {
    const Version* version = node_.versions.find(id);
    const bool wants = version != nullptr && version->wants_flush();
    if (wants && !held.unreachable.empty() && !HeldVersions::has_pieces_to_write(held)) lost_with_its_tier(id);
  }
}

base::Status Flushes::drop_unreachable(const std::string& name, const segment::Attempt& whole_at_store,
                                       const std::vector<plan::Fork>& forks) {
  std::vector<segment::VersionId> superseded;
  for (const auto& [id, held] : node_.catalog.state().versions) {
    const Version* run = node_.held_version(id);
    const bool idle = run == nullptr || (run->flush != FlushPhase::running && run->pinned_by.empty());
    const bool older = id.name == name && id.attempt < whole_at_store &&
                       plan::related(forks, plan::branch_of(id.attempt.nonce), plan::branch_of(whole_at_store.nonce));
    if (older && idle && !held.unreachable.empty()) superseded.push_back(id);
  }
  for (const auto& id : superseded) {
    node_.reports.add(id.text() +
                      ": a part of it is on a tier that cannot be reached; it is given up, because the store has a "
                      "newer version");
    PERDURE_CHECK(held_.drop(id));
  }
  return {};
}

bool Flushes::may_be_published(const segment::VersionId& id) const {
  return none_before(id, [](const segment::VersionId&) { return true; });
}

// Versions in the queue are older and come first anyway. So only those outside the queue have to be checked.
bool Flushes::may_follow(const segment::VersionId& id) const {
  return none_before(id, [this](const segment::VersionId& other) { return captures_.write_through(other); });
}

bool Flushes::none_before(const segment::VersionId& id,
                          const std::function<bool(const segment::VersionId&)>& counts) const {
  const Version* mine = node_.held_version(id);
  return mine == nullptr || std::none_of(node_.versions.begin(), node_.versions.end(), [&](const auto& entry) {
           const auto& [other, version] = entry;
           return other != id && other.name == id.name && version.on_its_way() && version.order < mine->order &&
                  counts(other);
         });
}

base::Result<bool> Flushes::see_incarnation(const std::string& name, std::uint64_t incarnation) {
  const auto& state = node_.catalog.state();
  const auto known = state.incarnations.find(name);
  if (known != state.incarnations.end() && known->second == incarnation) return false;
  std::vector<segment::VersionId> gone;
  for (const auto& [id, held] : state.versions)
    if (known != state.incarnations.end() && id.name == name && held.committed &&
        std::any_of(held.segments.begin(), held.segments.end(), [](const auto& segment) { return segment.stored; }))
      gone.push_back(id);
  PERDURE_CHECK(node_.catalog.append(catalog::IncarnationRecord{name, incarnation}));
  for (const auto& id : gone) {
    (void)node_.versions.happens(id, VersionEvent::add_segments);
    node_.versions.at(id).stored_epochs.clear();
  }
  if (!gone.empty())
    node_.reports.add("the store has nothing any more of what this node brought there of " + name + " (" +
                      std::to_string(gone.size()) + (gone.size() == 1 ? " version" : " versions") +
                      "): it was removed, or another one is in its place; what is still "
                      "here is brought there again (to begin anew instead: perdure forget " +
                      name + ")");
  return !gone.empty();
}

base::Status Flushes::segments_gone(const segment::VersionId& id, const std::vector<std::uint32_t>& segments) {
  const auto* held = node_.held(id);
  if (held == nullptr || !held->committed) return {};
  const auto whole_here = [&](const catalog::LocalSegment& segment) {
    return std::all_of(segment.ranks.begin(), segment.ranks.end(),
                       [&](std::uint32_t rank) { return held->restorable(rank); });
  };
  std::vector<std::uint32_t> gone;
  for (const auto& segment : held->segments) {
    const bool named = std::find(segments.begin(), segments.end(), segment.index) != segments.end();
    if (named && segment.stored && whole_here(segment)) gone.push_back(segment.index);
  }
  if (gone.empty()) return {};
  base::Status recorded;
  for (const std::uint32_t segment : gone)
    if (recorded) recorded = node_.catalog.append(catalog::GoneRecord{id, segment});
  if (node_.held(id)->all_stored()) return recorded;
  (void)node_.versions.happens(id, VersionEvent::add_segments);
  node_.versions.at(id).stored_epochs.clear();
  if (!recorded) return recorded;  // the next restore that finds all of this stored asks for the rest
  node_.reports.add(id.text() + ": the store has " + std::to_string(gone.size()) +
                    (gone.size() == 1 ? " segment" : " segments") +
                    " no more that this node brought there: damaged, or removed; what is still here is brought there "
                    "again");
  return {};
}

base::Status Flushes::segment_stored(const segment::VersionId& id, std::uint32_t segment) {
  if (!node_.catalog.state().versions.contains(id)) return {};
  os::crash_point(os::CrashPoint::flush_before_catalog);
  PERDURE_CHECK(node_.catalog.append(catalog::StoredRecord{id, segment}));
  if (node_.held(id)->all_stored()) {
    (void)node_.versions.happens(id, VersionEvent::store);
    node_.counters.reached_store(id);
  }
  os::crash_point(os::CrashPoint::flush_after_catalog);
  return {};
}

void Flushes::succeeded(const segment::VersionId& id, std::uint64_t bytes, double seconds) {
  node_.counters.flush_succeeded(bytes, seconds);
  if (node_.lost_versions > 1)
    node_.reports.add(std::to_string(node_.lost_versions) +
                      " checkpoints were given up to make room while the store failed");
  node_.lost_versions = 0;
  node_.store_failing = false;
  held_.requeue_given_up();
  if (node_.versions.happens(id, VersionEvent::attempt_succeeds)) node_.versions.at(id).error.reset();
}

void Flushes::interrupted(const segment::VersionId& id) { (void)node_.versions.happens(id, VersionEvent::interrupt); }

bool Flushes::read_damage(const ipc::Quarantine& chunk, const segment::ChunkEntry& read, const base::Error& error) {
  const auto* now = find_chunk(chunk.id, {chunk.rank, chunk.chunk});
  if (now == nullptr || now->place != read.place || now->offset != read.offset) {
    interrupted(chunk.id);
    return false;
  }
  (void)held_.quarantine(chunk);
  failed(chunk.id, error, true);
  return true;
}

void Flushes::failed(const segment::VersionId& id, const base::Error& error, bool give_up) {
  node_.store_failing = node_.store_failing || error.code != PERDURE_CORRUPT;
  ++(give_up ? node_.counters.flushes_given_up : node_.counters.flushes_retried);
  if (node_.versions.happens(id, give_up ? VersionEvent::give_up : VersionEvent::attempt_fails))
    node_.versions.at(id).error = error;
}

base::Status Flushes::forget_old(const std::string& name, std::uint64_t keep) {
  std::vector<segment::VersionId> stored;
  for (const auto& [id, held] : node_.catalog.state().versions)
    if (id.name == name && held_.evictable(held)) stored.push_back(id);
  std::sort(stored.begin(), stored.end(), [](const auto& a, const auto& b) { return a.attempt > b.attempt; });
  for (std::size_t i = keep; i < stored.size(); ++i) PERDURE_CHECK(held_.drop(stored[i]));
  PERDURE_CHECK(redundancy_.drop_obsolete(name));
  return stored.empty() ? base::Status() : drop_damaged(name, stored.front().attempt);
}

// A version that failed verification can never be stored. After a newer one is stored, it only occupies slots, through
// every restart.
base::Status Flushes::drop_damaged(const std::string& name, const segment::Attempt& newest_stored) {
  std::vector<segment::VersionId> hopeless;
  for (const auto& [id, held] : node_.catalog.state().versions) {
    const Version* run = node_.held_version(id);
    const bool idle = run != nullptr && run->flush == FlushPhase::given_up && run->pinned_by.empty();
    if (id.name == name && id.attempt < newest_stored && idle && !held.quarantined.empty()) hopeless.push_back(id);
  }
  for (const auto& id : hopeless) {
    node_.reports.add(id.text() +
                      ": damaged on this node; its slots are given up, because a newer version is at the store");
    PERDURE_CHECK(held_.drop(id));
  }
  return {};
}

void Flushes::replicate_first(const segment::VersionId& id, bool first) {
  if (Version* version = node_.versions.find(id)) version->replicate_first = first;
}

void Flushes::let_flush(const std::optional<segment::VersionId>& id) {
  for (const auto& [other, held] : node_.catalog.state().versions)
    if (Version* version = node_.versions.find(other); version != nullptr && version->held_back_until_s)
      if (!id || *id == other) version->held_back_until_s = 0;
}

bool Flushes::held_back(const Version& version) const {
  return version.held_back_until_s && node_.now_s() < *version.held_back_until_s;
}

// A flush and a replication at once would read the same slots twice as slowly, and applications wait for level node. If
// a capture is short of slots, however, the flush comes first, since it makes room.
bool Flushes::waits_for_replication(const segment::VersionId& id) const {
  const Version* version = node_.versions.find(id);
  return version != nullptr && version->replicate_first && !captures_.slots_wanted();
}

const segment::ChunkEntry* Flushes::find_chunk(const segment::VersionId& id, const ChunkName& name) const {
  if (const auto* held = node_.held(id); held != nullptr) {
    const auto piece = held->pieces.find(name.rank);
    if (piece != held->pieces.end())
      return name.chunk < piece->second.chunks.size() ? &piece->second.chunks[name.chunk] : nullptr;
  }
  const OpenCapture* open = captures_.find(id);
  return open == nullptr ? nullptr : open->find(name);
}

bool Flushes::is_in(const segment::VersionId& id, const ChunkName& name, SlotKey slot) const {
  const auto* chunk = find_chunk(id, name);
  return chunk != nullptr && chunk->place == slot.first && chunk->offset == slot.second;
}

std::optional<FlushMeter::Started> Flushes::chunk_begins(const segment::VersionId& id, const FlushedChunk& chunk) {
  if (!is_in(id, chunk.name, chunk.slot)) return std::nullopt;
  (void)node_.slots.happens(chunk.slot, SlotEvent::read_begins);
  node_.observed.interference.flush_begins(node_.now_s());
  return node_.flush_meter.begins(chunk.slot.first);
}

std::optional<FlushMeter::Observation> Flushes::chunk_ended(const segment::VersionId& id, const FlushedChunk& chunk,
                                                            const FlushMeter::Started& started, bool stored,
                                                            bool movable) {
  node_.observed.interference.flush_ends(node_.now_s());
  const bool given_up = node_.slots.state(chunk.slot).reading == SlotReading::yes_then_free;
  (void)node_.slots.happens(chunk.slot, SlotEvent::read_ends);
  if (!stored) {
    node_.flush_meter.abandoned(chunk.slot.first, started);
    return std::nullopt;
  }
  node_.counters.flushed_chunk_bytes += chunk.bytes;
  const auto observed = node_.flush_meter.finished(chunk.slot.first, started, static_cast<double>(chunk.bytes));
  Version* version = node_.versions.find(id);
  if (version != nullptr && version->held()) version->bytes_flushed += chunk.bytes;
  if (movable && !given_up && is_in(id, chunk.name, chunk.slot))
    version->flushed[chunk.slot.first][chunk.slot.second] = {chunk.name, chunk.offset};
  return observed;
}

bool Flushes::attempt_over(const segment::VersionId& id) {
  if (Version* version = node_.versions.find(id)) version->flushed.clear();
  const auto* held = node_.held(id);
  if (held != nullptr && held->any_spilled()) return !held->all_stored();
  const OpenCapture* open = captures_.find(id);
  if (open == nullptr || open->failure) return false;
  const auto& pieces = open->pieces;
  return std::any_of(pieces.begin(), pieces.end(), [](const auto& entry) {
    return std::any_of(entry.second.chunks.begin(), entry.second.chunks.end(),
                       [](const auto& chunk) { return chunk.place == catalog::kInTemporarySegment; });
  });
}

}  // namespace perdure::engine
