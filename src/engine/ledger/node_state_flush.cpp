// What is flushed next, and what a flush leaves behind.
#include <algorithm>

#include "engine/ledger/node_state.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {

std::optional<segment::VersionId> NodeState::next_flush() {
  (void)write_delayed_commits();  // reported when it began to fail
  const catalog::HeldVersion* best = nullptr;
  std::uint64_t best_order = 0;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Version* version = versions_.find(id);
    const bool wants = version != nullptr && version->wants_flush() && !version->write_through();
    if (!wants || (best != nullptr && version->order >= best_order) || !may_follow(id)) continue;
    if (!has_pieces_to_write(held)) {
      lost_with_its_tier(id);
      continue;
    }
    best = &held;
    best_order = version->order;
  }
  if (best == nullptr || waits_for_replication(best->id)) return std::nullopt;
  (void)versions_.happens(best->id, VersionEvent::attempt);
  return best->id;
}

bool NodeState::has_pieces_to_write(const catalog::HeldVersion& held) {
  return std::any_of(held.segments.begin(), held.segments.end(),
                     [&](const auto& segment) { return !segment.stored && held.has_pieces(segment.ranks); });
}

void NodeState::lost_with_its_tier(const segment::VersionId& id) {
  const base::Error error{PERDURE_CORRUPT, id.text(), "a piece of each segment that is not stored went with its tier",
                          "restore it, if redundancy keeps what was lost", false};
  (void)versions_.happens(id, VersionEvent::give_up);
  versions_.at(id).error = error;
  reports_.add(error.text());
}

bool NodeState::may_be_published(const segment::VersionId& id) const {
  return none_before(id, [](const segment::VersionId&) { return true; });
}

// Others in the queue are older than it and come first in any case: only those have to be looked at that are not in it.
bool NodeState::may_follow(const segment::VersionId& id) const {
  return none_before(id, [this](const segment::VersionId& other) { return write_through(other); });
}

bool NodeState::none_before(const segment::VersionId& id,
                            const std::function<bool(const segment::VersionId&)>& counts) const {
  const Runtime* mine = runtime(id);
  return mine == nullptr || std::none_of(versions_.begin(), versions_.end(), [&](const auto& entry) {
           const auto& [other, version] = entry;
           return other != id && other.name == id.name && version.life == Life::committed &&
                  version.order < mine->order && version.flush != FlushPhase::given_up && counts(other);
         });
}

base::Status NodeState::segment_stored(const segment::VersionId& id, std::uint32_t segment) {
  if (!catalog_.state().versions.contains(id)) return {};
  os::crash_point(os::CrashPoint::flush_before_catalog);
  PERDURE_CHECK(catalog_.append(catalog::StoredRecord{id, segment}));
  if (find(id)->all_stored()) {
    (void)versions_.happens(id, VersionEvent::store);
    counters_.reached_store(id.attempt.created_ns);
  }
  os::crash_point(os::CrashPoint::flush_after_catalog);
  return {};
}

void NodeState::flush_succeeded(const segment::VersionId& id, std::uint64_t bytes, double seconds) {
  counters_.flush_succeeded(bytes, seconds);
  if (dropped_ > 1)
    reports_.add(std::to_string(dropped_) + " checkpoints were given up to make room while the store failed");
  dropped_ = 0;
  store_failing_ = false;
  requeue_given_up();
  if (versions_.happens(id, VersionEvent::attempt_succeeds)) versions_.at(id).error.reset();
}

void NodeState::flush_interrupted(const segment::VersionId& id) {
  (void)versions_.happens(id, VersionEvent::interrupt);
}

bool NodeState::flush_read_damage(const ipc::Quarantine& chunk, const segment::ChunkEntry& read,
                                  const base::Error& error) {
  const auto* now = find_chunk(chunk.id, {chunk.rank, chunk.chunk});
  if (now == nullptr || now->place != read.place || now->offset != read.offset) {
    flush_interrupted(chunk.id);
    return false;
  }
  (void)quarantine(chunk);
  flush_failed(chunk.id, error, true);
  return true;
}

void NodeState::flush_failed(const segment::VersionId& id, const base::Error& error, bool give_up) {
  store_failing_ = store_failing_ || error.code != PERDURE_CORRUPT;
  ++(give_up ? counters_.flushes_given_up : counters_.flushes_retried);
  if (versions_.happens(id, give_up ? VersionEvent::give_up : VersionEvent::attempt_fails))
    versions_.at(id).error = error;
}

base::Status NodeState::forget_old(const std::string& name, std::uint64_t keep) {
  std::vector<segment::VersionId> stored;
  for (const auto& [id, held] : catalog_.state().versions)
    if (id.name == name && evictable(held)) stored.push_back(id);
  std::sort(stored.begin(), stored.end(), [](const auto& a, const auto& b) { return a.attempt > b.attempt; });
  for (std::size_t i = keep; i < stored.size(); ++i) PERDURE_CHECK(drop(stored[i]));
  PERDURE_CHECK(drop_obsolete(name));
  return stored.empty() ? base::Status() : drop_damaged(name, stored.front().attempt);
}

// What failed verification can never be stored: once a newer version is, it only keeps its slots from others, over
// every restart.
base::Status NodeState::drop_damaged(const std::string& name, const segment::Attempt& newest_stored) {
  std::vector<segment::VersionId> hopeless;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Runtime* run = runtime(id);
    const bool idle = run != nullptr && run->flush == FlushPhase::given_up && run->pinned_by.empty();
    if (id.name == name && id.attempt < newest_stored && idle && !held.quarantined.empty()) hopeless.push_back(id);
  }
  for (const auto& id : hopeless) {
    reports_.add(id.text() + ": damaged on this node; its slots are given up, because a newer version is at the store");
    PERDURE_CHECK(drop(id));
  }
  return {};
}

}  // namespace perdure::engine
