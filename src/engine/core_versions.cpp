// The life of a version on this node: staged, committed or aborted, read, set aside, dropped.
#include <algorithm>
#include <utility>

#include "engine/core.hpp"
#include "engine/now.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

base::Error not_held(const segment::VersionId& id) {
  return {PERDURE_NOT_FOUND, id.text(), "this node holds nothing of it", "", false};
}

}  // namespace

base::Status Core::stage(ClientId client, const ipc::Stage& stage) {
  PERDURE_TRY(const segment::Piece piece, placed(client, stage));
  if (auto it = catalog_.state().versions.find(stage.id);
      it != catalog_.state().versions.end() && it->second.pieces.contains(stage.piece.rank))
    return base::fail(PERDURE_EXISTS, stage.id.text(),
                      "rank " + std::to_string(stage.piece.rank) + " has staged it already");
  os::crash_point(os::CrashPoint::engine_stage_before_catalog);
  PERDURE_CHECK(catalog_.append(catalog::StageRecord{stage.id, stage.ranks, piece}));
  os::crash_point(os::CrashPoint::engine_stage_after_catalog);
  for (const auto& chunk : piece.chunks) {
    if (chunk.place == catalog::kInTemporarySegment) continue;
    const auto staged = in_flight_.extract(SlotKey{chunk.place, chunk.offset});
    forget_in_flight(staged.key(), staged.mapped());
    tiers_[chunk.place]->written(chunk.offset);
    trouble_[chunk.place].reported = false;
  }
  release_in_flight(client, &stage.id);  // slots that the rank could not write
  count_chunks(stage.id, piece);
  in_hand_[stage.id].insert(client);
  if (const auto capture = open_captures_.find(stage.id); capture != open_captures_.end())
    capture->second.complete(piece);
  return {};
}

base::Status Core::commit(const ipc::Commit& commit) {
  auto it = catalog_.state().versions.find(commit.id);
  if (it == catalog_.state().versions.end()) return base::fail(not_held(commit.id));
  if (delayed_commits_.contains(commit.id)) return {};
  if (it->second.committed) return commit_more(commit, it->second);
  std::vector<catalog::LocalSegment> segments;
  for (const auto& planned : commit.segments) {
    if (!it->second.has_pieces(planned.ranks))
      return base::fail(PERDURE_NOT_FOUND, commit.id.text(), "not every rank of this node has staged its piece");
    segments.push_back({planned.index, planned.count, planned.ranks, false});
  }
  const auto begun = catalog_.state().begun.find(commit.id);
  if (it->second.any_moved() && begun != catalog_.state().begun.end() && begun->second != segments)
    return base::fail(PERDURE_MISMATCH, commit.id.text(),
                      "a part of it is in segments that were begun with other ranks together",
                      "restart with the ranks on the same nodes as before");
  os::crash_point(os::CrashPoint::engine_commit_before_catalog);
  const bool first_delayed = delayed_commits_.empty();
  delayed_commits_.emplace(commit.id, catalog::CommitRecord{commit.id, segments});
  if (auto written = write_delayed_commits(); !written && first_delayed)
    reports_.add("catalog: " + written.error().text() + "; " + commit.id.text() +
                 " will be flushed when it can be written again");
  os::crash_point(os::CrashPoint::engine_commit_after_catalog);
  in_hand_.erase(commit.id);
  counters_.capture_commits(commit.id, it->second.bytes(), now_s());
  Runtime& run = runtime_[commit.id];
  run.order = next_order_++;
  run.flush = flushed_early(commit.id) ? FlushState::running : FlushState::queued;
  if (!flushed_early(commit.id)) open_captures_.erase(commit.id);
  for (TierTrouble& trouble : trouble_) trouble.failed = false;
  doubt_slumps();
  requeue_given_up();
  return {};
}

// After a loss a node writes more of a version than it did before.
base::Status Core::commit_more(const ipc::Commit& commit, const catalog::HeldVersion& held) {
  catalog::CommitRecord record{commit.id, {}};
  for (const auto& planned : commit.segments) {
    if (!held.has_pieces(planned.ranks))
      return base::fail(PERDURE_NOT_FOUND, commit.id.text(), "not every rank of a segment has its piece here");
    const bool stored = std::any_of(held.segments.begin(), held.segments.end(), [&](const auto& segment) {
      return segment.index == planned.index && segment.count == planned.count && segment.stored;
    });
    if (!stored) record.segments.push_back({planned.index, planned.count, planned.ranks, false});
  }
  if (record.segments.empty()) return {};
  PERDURE_CHECK(catalog_.append(record));
  Runtime& run = runtime_[commit.id];
  if (run.flush != FlushState::running) run.flush = FlushState::queued;
  run.error.reset();
  return {};
}

// A tier that is avoided for being slow cannot show that it is fast again: after a while it gets another chance.
void Core::doubt_slumps() {
  for (std::size_t t = 0; t < models_.size(); ++t)
    if (std::exchange(observed_[t], models_[t].observations()) == models_[t].observations()) models_[t].doubt();
}

base::Status Core::write_delayed_commits() {
  while (!delayed_commits_.empty()) {
    PERDURE_CHECK(catalog_.append(delayed_commits_.begin()->second));
    delayed_commits_.erase(delayed_commits_.begin());
  }
  return {};
}

// The store may work again by now: versions that were given up get another chance, in their old order.
void Core::requeue_given_up() {
  for (auto& [id, run] : runtime_)
    if (run.flush == FlushState::given_up && run.error && run.error->code != PERDURE_CORRUPT)
      run.flush = FlushState::queued;
}

void Core::release_in_flight(ClientId client, const segment::VersionId* id) {
  for (auto it = in_flight_.begin(); it != in_flight_.end();) {
    if (it->second.client != client || (id != nullptr && it->second.id != *id)) {
      ++it;
      continue;
    }
    forget_in_flight(it->first, it->second);
    release_slot(it->second.id, it->first);
    it = in_flight_.erase(it);
  }
}

base::Status Core::abort(ClientId client, const segment::VersionId& id) {
  release_in_flight(client, &id);
  auto held = catalog_.state().versions.find(id);
  if (delayed_commits_.contains(id) || (held != catalog_.state().versions.end() && held->second.committed))
    return base::fail(PERDURE_BUSY, id.text(), "it is committed and cannot be aborted", "retire it instead");
  open_captures_.erase(id);
  counters_.capture_over(id);
  PERDURE_CHECK(unprotect(id));
  return drop(id);
}

base::Result<const segment::Piece*> Core::locate(ClientId client, const segment::VersionId& id, std::uint32_t rank) {
  os::crash_point(os::CrashPoint::engine_locate);
  auto it = catalog_.state().versions.find(id);
  if (it == catalog_.state().versions.end() || !it->second.pieces.contains(rank) || it->second.moved(rank))
    return base::fail(not_held(id));
  runtime_[id].pinned_by.insert(client);
  return &it->second.pieces.at(rank);
}

void Core::unpin(ClientId client) {
  for (auto& [id, run] : runtime_) run.pinned_by.erase(client);
}

void Core::pin(ClientId client, const segment::VersionId& id) {
  if (const auto run = runtime_.find(id); run != runtime_.end()) run->second.pinned_by.insert(client);
}

void Core::unpin(ClientId client, const segment::VersionId& id) {
  if (const auto run = runtime_.find(id); run != runtime_.end()) run->second.pinned_by.erase(client);
}

base::Status Core::quarantine(const ipc::Quarantine& quarantine) {
  auto it = catalog_.state().versions.find(quarantine.id);
  if (it == catalog_.state().versions.end()) return base::fail(not_held(quarantine.id));
  if (it->second.quarantined.contains({quarantine.rank, quarantine.chunk})) return {};
  PERDURE_CHECK(
      catalog_.append(catalog::QuarantineRecord{quarantine.id, quarantine.rank, quarantine.chunk, quarantine.why}));
  ++counters_.quarantined_chunks;
  reports_.add("quarantine: " + quarantine.id.text() + ", rank " + std::to_string(quarantine.rank) + ", chunk " +
               std::to_string(quarantine.chunk) + " in a tier: " + quarantine.why + "; it will not be used");
  return {};
}

base::Status Core::retire(const std::string& name, std::uint64_t version) {
  std::vector<segment::VersionId> ids;
  for (const auto& [id, held] : catalog_.state().versions)
    if (id.name == name && id.version == version) ids.push_back(id);
  for (const auto& [id, protection] : catalog_.state().protections)
    if (id.version.name == name && id.version.version == version) ids.push_back(id.version);
  for (const auto& id : ids) {
    PERDURE_CHECK(drop(id));
    PERDURE_CHECK(unprotect(id));
  }
  return {};
}

void Core::client_gone(ClientId client, std::optional<std::uint32_t> rank) {
  interference_.client_gone(client);
  release_in_flight(client, nullptr);
  leave_captures(client, rank);
  expected_.client_gone(client);
  for (auto& [id, clients] : in_hand_) clients.erase(client);
  std::erase_if(in_hand_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& tier : tiers_) tier->disown(client);
  unpin(client);
}

bool Core::can_be_written(const catalog::HeldVersion& held, const catalog::LocalSegment& segment) {
  return std::all_of(segment.ranks.begin(), segment.ranks.end(),
                     [&held](std::uint32_t rank) { return held.restorable(rank) || held.moved(rank); });
}

std::vector<ipc::HeldSummary> Core::inventory(const std::string& name) const {
  std::vector<ipc::HeldSummary> list;
  for (const auto& [id, held] : catalog_.state().versions) {
    if (!name.empty() && id.name != name) continue;
    // Asked for everything, to settle what dead ranks left: a capture whose ranks are still connected is theirs to
    // decide.
    const bool theirs = name.empty() && in_hand_.contains(id);
    ipc::HeldSummary summary{
        id, held.ranks, {}, held.committed || delayed_commits_.contains(id) || theirs, held.all_stored(), {}, {}};
    for (const auto& [rank, piece] : held.pieces) {
      if (held.restorable(rank)) summary.held.push_back(rank);
      if (held.moved(rank) && !summary.stored) summary.moved.push_back(rank);
    }
    if (const auto begun = catalog_.state().begun.find(id); begun != catalog_.state().begun.end())
      for (const auto& segment : begun->second) summary.begun.push_back({segment.index, segment.count, segment.ranks});
    const auto delayed = delayed_commits_.find(id);
    const auto& segments = delayed == delayed_commits_.end() ? held.segments : delayed->second.segments;
    for (const auto& segment : segments)
      if (segment.stored || can_be_written(held, segment))
        summary.segments.push_back({segment.index, segment.count, segment.ranks});
    list.push_back(std::move(summary));
  }
  return list;
}

void Core::release_slots(const catalog::HeldVersion& held) {
  for (const auto& [rank, piece] : held.pieces)
    for (const auto& chunk : piece.chunks)
      if (chunk.place < tiers_.size()) release_slot(held.id, {chunk.place, chunk.offset});
}

// A slot is recycled only after the catalog says so.
base::Status Core::drop(const segment::VersionId& id) {
  auto it = catalog_.state().versions.find(id);
  if (it == catalog_.state().versions.end()) return {};
  const catalog::HeldVersion held = it->second;
  PERDURE_CHECK(catalog_.append(catalog::DropRecord{id}));
  release_slots(held);
  counters_.capture_over(id);
  in_hand_.erase(id);
  runtime_.erase(id);
  open_captures_.erase(id);
  delayed_commits_.erase(id);
  protected_first_.erase(id);
  return {};
}

}  // namespace perdure::engine
