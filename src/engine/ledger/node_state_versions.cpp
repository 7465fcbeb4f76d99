// The life of a version on this node: staged, committed or aborted, read, set aside, dropped.
#include <algorithm>
#include <utility>

#include "engine/ledger/node_state.hpp"
#include "engine/ledger/now.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

base::Error not_held(const segment::VersionId& id) {
  return {PERDURE_NOT_FOUND, id.text(), "this node holds nothing of it", "", false};
}

}  // namespace

base::Status NodeState::stage(ClientId client, const ipc::Stage& stage) {
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
    settle({chunk.place, chunk.offset});
    tiers_[chunk.place]->written(chunk.offset);
    tier_health_[chunk.place].reported = false;
  }
  (void)versions_.happens(stage.id, VersionEvent::stage);
  release_in_flight(client, &stage.id);  // slots that the rank could not write
  count_chunks(stage.id, piece);
  versions_.at(stage.id).staged_by.insert(client);
  if (OpenCapture* open = capture(stage.id)) open->complete(piece);
  return {};
}

base::Status NodeState::commit(const ipc::Commit& commit) {
  auto it = catalog_.state().versions.find(commit.id);
  if (it == catalog_.state().versions.end()) return base::fail(not_held(commit.id));
  Version& version = versions_.at(commit.id);
  if (version.life == Life::delayed) return {};
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
  const bool first_delayed =
      std::none_of(versions_.begin(), versions_.end(), [](const auto& v) { return v.second.life == Life::delayed; });
  (void)versions_.happens(commit.id, VersionEvent::commit);
  version.delayed = std::move(segments);
  if (auto written = write_delayed_commits(); !written && first_delayed)
    reports_.add("catalog: " + written.error().text() + "; " + commit.id.text() +
                 " will be flushed when it can be written again");
  os::crash_point(os::CrashPoint::engine_commit_after_catalog);
  version.staged_by.clear();
  if (version.begun_s) counters_.capture_commits(it->second.bytes(), now_s() - *version.begun_s);
  version.begun_s.reset();  // what was settled after a death, or recovered, was not captured here now
  version.order = next_order_++;
  if (!version.write_through()) version.capture.reset();
  for (TierHealth& trouble : tier_health_) trouble.failed = false;
  doubt_slumps();
  requeue_given_up();
  return {};
}

// After a loss a node writes more of a version than it did before.
base::Status NodeState::commit_more(const ipc::Commit& commit, const catalog::HeldVersion& held) {
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
  (void)versions_.happens(commit.id, VersionEvent::add_segments);
  versions_.at(commit.id).error.reset();
  return {};
}

// A tier that is avoided for being slow cannot show that it is fast again: after a while it gets another chance.
void NodeState::doubt_slumps() {
  for (std::size_t t = 0; t < models_.size(); ++t)
    if (std::exchange(observed_[t], models_[t].observations()) == models_[t].observations()) models_[t].doubt();
}

base::Status NodeState::write_delayed_commits() {
  for (auto& [id, version] : versions_) {
    if (version.life != Life::delayed) continue;
    PERDURE_CHECK(catalog_.append(catalog::CommitRecord{id, version.delayed}));
    version.delayed.clear();
    recorded(*find(id));
  }
  return {};
}

// The catalog says that it is committed. With pieces that other nodes bring to the store there is nothing to store
// here.
void NodeState::recorded(const catalog::HeldVersion& held) {
  (void)versions_.happens(held.id, VersionEvent::record);
  if (held.all_stored()) (void)versions_.happens(held.id, VersionEvent::store);
}

// The store may work again by now: versions that were given up get another chance, in their old order.
void NodeState::requeue_given_up() {
  for (const auto& [id, version] : versions_)
    if (version.error && version.error->code != PERDURE_CORRUPT) (void)versions_.happens(id, VersionEvent::try_again);
}

void NodeState::release_in_flight(ClientId client, const segment::VersionId* id) {
  for (const SlotKey& slot : slots_.granted_to(client, id)) {
    const segment::VersionId of = slots_.granted(slot)->id;
    settle(slot);
    release_slot(of, slot);
  }
}

base::Status NodeState::abort(ClientId client, const segment::VersionId& id) {
  release_in_flight(client, &id);
  auto held = catalog_.state().versions.find(id);
  if (const Version* version = versions_.find(id); (version != nullptr && version->life == Life::delayed) ||
                                                   (held != catalog_.state().versions.end() && held->second.committed))
    return base::fail(PERDURE_BUSY, id.text(), "it is committed and cannot be aborted", "retire it instead");
  if (Version* version = versions_.find(id)) {
    (void)versions_.happens(id, VersionEvent::capture_fails);
    version->capture.reset();
  }
  PERDURE_CHECK(drop_redundancy(id));
  PERDURE_CHECK(drop(id));
  capture_over(id);
  return {};
}

base::Result<const segment::Piece*> NodeState::locate(ClientId client, const segment::VersionId& id,
                                                      std::uint32_t rank) {
  os::crash_point(os::CrashPoint::engine_locate);
  auto it = catalog_.state().versions.find(id);
  if (it == catalog_.state().versions.end() || !it->second.pieces.contains(rank) || it->second.moved(rank))
    return base::fail(not_held(id));
  versions_.at(id).pinned_by.insert(client);
  return &it->second.pieces.at(rank);
}

void NodeState::unpin(ClientId client) {
  for (auto& [id, version] : versions_) version.pinned_by.erase(client);
}

void NodeState::pin(ClientId client, const segment::VersionId& id) {
  if (Version* version = versions_.find(id); version != nullptr && version->held()) version->pinned_by.insert(client);
}

void NodeState::unpin(ClientId client, const segment::VersionId& id) {
  if (Version* version = versions_.find(id)) version->pinned_by.erase(client);
}

base::Status NodeState::quarantine(const ipc::Quarantine& quarantine) {
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

base::Status NodeState::retire(const std::string& name, std::uint64_t version) {
  std::vector<segment::VersionId> ids;
  for (const auto& [id, held] : catalog_.state().versions)
    if (id.name == name && id.version == version) ids.push_back(id);
  for (const auto& [id, redundancy_set] : catalog_.state().redundancy_sets)
    if (id.version.name == name && id.version.version == version) ids.push_back(id.version);
  for (const auto& id : ids) {
    PERDURE_CHECK(drop(id));
    PERDURE_CHECK(drop_redundancy(id));
  }
  return {};
}

void NodeState::client_gone(ClientId client, std::optional<std::uint32_t> rank) {
  interference_.client_gone(client);
  release_in_flight(client, nullptr);
  leave_captures(client, rank);
  expected_.client_gone(client);
  for (auto& [id, version] : versions_) version.staged_by.erase(client);
  for (auto& tier : tiers_) tier->disown(client);
  unpin(client);
}

bool NodeState::can_be_written(const catalog::HeldVersion& held, const catalog::LocalSegment& segment) {
  return std::all_of(segment.ranks.begin(), segment.ranks.end(),
                     [&held](std::uint32_t rank) { return held.restorable(rank) || held.moved(rank); });
}

std::vector<ipc::HeldSummary> NodeState::inventory(const std::string& name) const {
  std::vector<ipc::HeldSummary> list;
  for (const auto& [id, held] : catalog_.state().versions) {
    if (!name.empty() && id.name != name) continue;
    // Asked for everything, to settle what dead ranks left: a capture whose ranks are still connected is theirs to
    // decide.
    const Version* version = versions_.find(id);
    const bool theirs = name.empty() && version != nullptr && !version->staged_by.empty();
    const bool delayed = version != nullptr && version->life == Life::delayed;
    ipc::HeldSummary summary{id, held.ranks, {}, held.committed || delayed || theirs, held.all_stored(), {}, {}};
    for (const auto& [rank, piece] : held.pieces) {
      if (held.restorable(rank)) summary.held.push_back(rank);
      if (held.moved(rank) && !summary.stored) summary.moved.push_back(rank);
    }
    if (const auto begun = catalog_.state().begun.find(id); begun != catalog_.state().begun.end())
      for (const auto& segment : begun->second) summary.begun.push_back({segment.index, segment.count, segment.ranks});
    const auto& segments = delayed ? version->delayed : held.segments;
    for (const auto& segment : segments)
      if (segment.stored || can_be_written(held, segment))
        summary.segments.push_back({segment.index, segment.count, segment.ranks});
    list.push_back(std::move(summary));
  }
  return list;
}

void NodeState::release_slots(const catalog::HeldVersion& held) {
  for (const auto& [rank, piece] : held.pieces)
    for (const auto& chunk : piece.chunks)
      if (chunk.place < tiers_.size()) release_slot(held.id, {chunk.place, chunk.offset});
}

// A slot is recycled only after the catalog says so.
base::Status NodeState::drop(const segment::VersionId& id) {
  auto it = catalog_.state().versions.find(id);
  if (it == catalog_.state().versions.end()) return {};
  const catalog::HeldVersion held = it->second;
  PERDURE_CHECK(catalog_.append(catalog::DropRecord{id}));
  release_slots(held);
  capture_over(id);
  return {};
}

}  // namespace perdure::engine
