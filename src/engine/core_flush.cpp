// What is flushed next, and what a flush leaves behind.
#include <algorithm>

#include "engine/core.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {

std::optional<segment::VersionId> Core::next_flush() {
  (void)write_delayed_commits();  // reported when it began to fail
  const catalog::HeldVersion* best = nullptr;
  std::uint64_t best_order = 0;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Runtime& run = runtime_[id];
    const bool wants = held.committed && !held.all_stored() && !flushed_early(id) &&
                       (run.flush == FlushState::queued || run.flush == FlushState::waiting);
    if (!wants || (best != nullptr && run.order >= best_order) || !may_follow(id)) continue;
    if (!has_pieces_to_write(held)) {
      lost_with_its_tier(id);
      continue;
    }
    best = &held;
    best_order = run.order;
  }
  if (best == nullptr || waits_for_protection(best->id)) return std::nullopt;
  runtime_[best->id].flush = FlushState::running;
  return best->id;
}

bool Core::has_pieces_to_write(const catalog::HeldVersion& held) {
  return std::any_of(held.segments.begin(), held.segments.end(),
                     [&](const auto& segment) { return !segment.stored && held.has_pieces(segment.ranks); });
}

void Core::lost_with_its_tier(const segment::VersionId& id) {
  Runtime& run = runtime_[id];
  run.flush = FlushState::given_up;
  run.error = base::Error{PERDURE_CORRUPT, id.text(), "a piece of each segment that is not stored went with its tier",
                          "restore it, if redundancy keeps what was lost", false};
  reports_.add(run.error->text());
}

bool Core::may_be_published(const segment::VersionId& id) const {
  return none_before(id, [](const segment::VersionId&) { return true; });
}

// Others in the queue are older than it and come first in any case: only those have to be looked at that are not in it.
bool Core::may_follow(const segment::VersionId& id) const {
  return none_before(id, [this](const segment::VersionId& other) { return flushed_early(other); });
}

bool Core::none_before(const segment::VersionId& id,
                       const std::function<bool(const segment::VersionId&)>& counts) const {
  const Runtime* mine = runtime(id);
  return std::none_of(catalog_.state().versions.begin(), catalog_.state().versions.end(), [&](const auto& entry) {
    const auto& [other, held] = entry;
    const Runtime* run = runtime(other);
    return other != id && other.name == id.name && held.committed && !held.all_stored() && run != nullptr &&
           mine != nullptr && run->order < mine->order && run->flush != FlushState::given_up && counts(other);
  });
}

base::Status Core::segment_stored(const segment::VersionId& id, std::uint32_t segment) {
  if (!catalog_.state().versions.contains(id)) return {};
  os::crash_point(os::CrashPoint::flush_before_catalog);
  PERDURE_CHECK(catalog_.append(catalog::StoredRecord{id, segment}));
  if (find(id)->all_stored()) counters_.reached_store(id.attempt.created_ns);
  os::crash_point(os::CrashPoint::flush_after_catalog);
  return {};
}

void Core::flush_succeeded(const segment::VersionId& id, std::uint64_t bytes, double seconds) {
  counters_.flush_succeeded(bytes, seconds);
  if (dropped_ > 1)
    reports_.add(std::to_string(dropped_) + " checkpoints were given up to make room while the store failed");
  dropped_ = 0;
  store_failing_ = false;
  requeue_given_up();
  auto it = runtime_.find(id);
  if (it == runtime_.end()) return;
  it->second.flush = FlushState::queued;
  it->second.error.reset();
}

void Core::flush_interrupted(const segment::VersionId& id) {
  const auto* held = find(id);
  const auto run = runtime_.find(id);
  if (held != nullptr && held->committed && !held->all_stored() && run != runtime_.end())
    run->second.flush = FlushState::queued;
}

bool Core::flush_read_damage(const ipc::Quarantine& chunk, const segment::ChunkEntry& read, const base::Error& error) {
  const auto* now = find_chunk(chunk.id, {chunk.rank, chunk.chunk});
  if (now == nullptr || now->place != read.place || now->offset != read.offset) {
    flush_interrupted(chunk.id);
    return false;
  }
  (void)quarantine(chunk);
  flush_failed(chunk.id, error, true);
  return true;
}

void Core::flush_failed(const segment::VersionId& id, const base::Error& error, bool give_up) {
  store_failing_ = store_failing_ || error.code != PERDURE_CORRUPT;
  ++(give_up ? counters_.flushes_given_up : counters_.flushes_retried);
  auto it = runtime_.find(id);
  if (it == runtime_.end()) return;
  it->second.error = error;
  it->second.flush = give_up ? FlushState::given_up : FlushState::waiting;
}

base::Status Core::forget_old(const std::string& name, std::uint64_t keep) {
  std::vector<segment::VersionId> stored;
  for (const auto& [id, held] : catalog_.state().versions)
    if (id.name == name && evictable(held)) stored.push_back(id);
  std::sort(stored.begin(), stored.end(), [](const auto& a, const auto& b) { return a.attempt > b.attempt; });
  for (std::size_t i = keep; i < stored.size(); ++i) PERDURE_CHECK(drop(stored[i]));
  PERDURE_CHECK(drop_unneeded(name));
  return stored.empty() ? base::Status() : drop_damaged(name, stored.front().attempt);
}

// What failed verification can never be stored: once a newer version is, it only keeps its slots from others, over
// every restart.
base::Status Core::drop_damaged(const std::string& name, const segment::Attempt& newest_stored) {
  std::vector<segment::VersionId> hopeless;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Runtime* run = runtime(id);
    const bool idle = run != nullptr && run->flush == FlushState::given_up && run->pinned_by.empty();
    if (id.name == name && id.attempt < newest_stored && idle && !held.quarantined.empty()) hopeless.push_back(id);
  }
  for (const auto& id : hopeless) {
    reports_.add(id.text() + ": damaged on this node; its slots are given up, because a newer version is at the store");
    PERDURE_CHECK(drop(id));
  }
  return {};
}

}  // namespace perdure::engine
