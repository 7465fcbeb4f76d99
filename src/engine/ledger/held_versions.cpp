#include "engine/ledger/held_versions.hpp"

#include <algorithm>
#include <utility>

#include "base/field_codec.hpp"
#include "catalog/tier_numbers.hpp"
#include "ipc/frame.hpp"
#include "os/crash_point.hpp"
#include "plan/lineage.hpp"
#include "plan/skipping.hpp"
#include "segment/segment.hpp"

namespace perdure::engine {
namespace {

base::Error not_held(const segment::VersionId& id) {
  return {PERDURE_NOT_FOUND, id.text(), "this node holds nothing of it", "", false};
}

// The code differs from that of a version that is not held, which would mean that this node has no segment to write.
base::Error lacks_a_piece(const segment::VersionId& id, const ipc::PlannedSegment& segment) {
  return {PERDURE_INCOMPLETE, id.text() + ", segment " + std::to_string(segment.index),
          "not every rank of it has its piece on this node", "", false};
}

// A staged piece must be locatable, and one message tells a rank all its slots. The limit is about 400,000 chunks: 25
// GiB with chunks of 64 KiB, 25 TiB with the default size.
base::Status check_locatable(const NodeTables& node, const segment::VersionId& id, const segment::Piece& piece) {
  constexpr std::uint64_t kOfChunk = 80;               // its entry, and its slot without the path
  std::vector<std::uint64_t> path(node.tiers.size());  // bytes of the path in a tier's file, computed once per tier
  std::uint64_t chunks = 0;
  for (const auto& chunk : piece.chunks) {
    chunks += kOfChunk;
    if (chunk.place >= path.size()) continue;
    if (path[chunk.place] == 0) {
      const auto address = node.address(chunk);
      path[chunk.place] = address.path.size() + address.access.size() + 12;  // other slots have longer numbers
    }
    chunks += path[chunk.place];
  }
  if (chunks < ipc::kMaxFrame / 8) return {};
  const std::uint64_t bytes = chunks + base::encode_fields(piece.regions).size();
  if (bytes <= ipc::kMaxFrame) return {};
  return base::fail(ipc::too_long(id.text() + ": what rank " + std::to_string(piece.rank) + " is told of its " +
                                      std::to_string(piece.chunks.size()) + " chunks at a restore",
                                  bytes));
}

}  // namespace

base::Status HeldVersions::recover() {
  std::vector<segment::VersionId> impossible;
  for (const auto& [id, held] : node_.catalog.state().versions) {
    if (!adopt_slots(held)) impossible.push_back(id);
    for (const auto* pieces : {&held.pieces, &held.unreachable})
      for (const auto& [rank, piece] : *pieces) count_chunks(id, piece);
    (void)node_.versions.happens(id, VersionEvent::stage);
    if (!held.committed) continue;
    (void)node_.versions.happens(id, VersionEvent::commit);
    node_.versions.at(id).order = next_order_++;
    recorded(held);
    if (held.all_stored()) node_.counters.reached_store(id);
  }
  return drop_impossible(impossible);
}

// If a part of a piece is unreachable, its other slots are in use all the same. False if a tier does not know a slot.
bool HeldVersions::adopt_slots(const catalog::HeldVersion& held) {
  bool good = true;
  for (const auto* pieces : {&held.pieces, &held.unreachable})
    for (const auto& [rank, piece] : *pieces)
      for (const auto& chunk : piece.chunks)
        good = good && (chunk.place >= catalog::kUnreachableTier ||
                        (chunk.place < node_.tiers.size() &&
                         node_.tiers[chunk.place]->adopt(chunk.offset, chunk.length).has_value()));
  return good;
}

void HeldVersions::count_chunks(const segment::VersionId& id, const segment::Piece& piece) {
  auto& counts = node_.versions.at(id).chunks;
  counts.resize(node_.tiers.size());
  for (const auto& chunk : piece.chunks)
    if (chunk.place < counts.size()) ++counts[chunk.place];
}

// Drops the records of versions whose slots the tiers do not know, after damage to the catalog. Slots of other versions
// stay theirs.
base::Status HeldVersions::drop_impossible(const std::vector<segment::VersionId>& ids) {
  for (const auto& id : ids) {
    node_.reports.add(id.text() +
                      ": the catalog and the tiers disagree about its slots; this node's copy was given up");
    PERDURE_CHECK(node_.catalog.append(catalog::DropRecord{id}));
    node_.versions.drop(id);
  }
  if (ids.empty()) return {};
  for (auto& tier : node_.tiers)
    for (std::uint64_t slot = 0; slot < tier->usage().slots; ++slot) tier->release(slot);
  for (const auto& [id, held] : node_.catalog.state().versions)
    if (!adopt_slots(held)) return base::fail(PERDURE_CORRUPT, id.text(), "a slot of it is another version's, too");
  return {};
}

bool HeldVersions::evictable(const catalog::HeldVersion& held) const {
  const Version* version = node_.versions.find(held.id);
  return held.all_stored() && (version == nullptr || version->pinned_by.empty()) && !redundancy_.guarded(held.id);
}

Exported HeldVersions::export_pieces(const segment::VersionId& id) const {
  Exported exported;
  const auto& redundancy_sets = node_.catalog.state().redundancy_sets;
  for (auto it = redundancy_sets.lower_bound({id, 0}); it != redundancy_sets.end() && it->first.version == id; ++it)
    exported.redundancy_sets.push_back(it->second);
  const auto* held = node_.held(id);
  if (held == nullptr) return exported;
  for (const auto& [rank, piece] : held->pieces) {
    Exported::Piece& part = exported.pieces.emplace_back(Exported::Piece{piece, {}});
    for (std::uint32_t c = 0; c < piece.chunks.size(); ++c) {
      const auto& chunk = piece.chunks[c];
      const bool good = chunk.place < node_.tiers.size() && !held->quarantined.contains({rank, c});
      part.slots.push_back(good ? std::optional(node_.address(chunk)) : std::nullopt);
    }
  }
  return exported;
}

base::Status HeldVersions::adopt(const segment::VersionId& id, std::uint32_t ranks, const segment::Piece& piece) {
  const auto* held = node_.held(id);
  if (held != nullptr && held->restorable(piece.rank)) return base::fail(PERDURE_EXISTS, id.text(), "it is here");
  const bool taken = std::all_of(piece.chunks.begin(), piece.chunks.end(), [&](const auto& chunk) {
    return node_.slots.state({chunk.place, chunk.offset}).holder == SlotHolder::redundancy;
  });
  if (!taken) return base::fail(PERDURE_INVALID_ARGUMENT, id.text(), "a chunk is in a slot that was not taken for it");
  std::optional<segment::Piece> before;
  if (held != nullptr)
    for (const auto* pieces : {&held->pieces, &held->unreachable})
      if (const auto known = pieces->find(piece.rank); known != pieces->end()) before = known->second;
  PERDURE_CHECK(node_.catalog.append(catalog::StageRecord{id, ranks, piece}));
  for (const auto& chunk : piece.chunks) {
    (void)node_.slots.happens({chunk.place, chunk.offset}, SlotEvent::keep);
    node_.tiers[chunk.place]->written(chunk.offset);
  }
  (void)node_.versions.happens(id, VersionEvent::stage);
  count_chunks(id, piece);
  if (!before) return {};
  for (const auto& chunk : before->chunks) {
    if (chunk.place >= node_.tiers.size()) continue;
    --node_.versions.at(id).chunks[chunk.place];
    node_.release_slot(id, {chunk.place, chunk.offset});
  }
  return {};
}

// The new launch settles what is open now. It may be able to have what an earlier one could not.
void HeldVersions::launch(const ipc::LaunchNodes& launch) {
  for (auto& [id, version] : node_.versions) version.remains = false;
  std::erase_if(launches_, [&](const auto& known) { return known.launch == launch.launch; });
  launches_.push_back(launch);
  if (launches_.size() > kMostLaunches) launches_.pop_front();
}

std::vector<std::uint64_t> HeldVersions::nodes_of(std::uint64_t launch) const {
  const auto known =
      std::find_if(launches_.begin(), launches_.end(), [&](const auto& other) { return other.launch == launch; });
  return known == launches_.end() ? std::vector<std::uint64_t>() : known->nodes;
}

ipc::CaptureNodes HeldVersions::capture_nodes(const catalog::HeldVersion& held, std::uint64_t launch) const {
  const auto nodes = nodes_of(launch);
  if (held.nodes.empty() || nodes.empty()) return ipc::CaptureNodes::unknown;
  return std::includes(nodes.begin(), nodes.end(), held.nodes.begin(), held.nodes.end()) ? ipc::CaptureNodes::all_here
                                                                                         : ipc::CaptureNodes::some_away;
}

base::Status HeldVersions::stage(ClientId client, const ipc::Stage& stage) {
  PERDURE_TRY(const segment::Piece piece, captures_.placed(client, stage));
  if (auto it = node_.catalog.state().versions.find(stage.id);
      it != node_.catalog.state().versions.end() && it->second.pieces.contains(stage.piece.rank))
    return base::fail(PERDURE_EXISTS, stage.id.text(),
                      "rank " + std::to_string(stage.piece.rank) + " has staged it already");
  if (const auto* held = node_.held(stage.id); held != nullptr && (held->committed || held->ranks != stage.ranks))
    return base::fail(PERDURE_INVALID_ARGUMENT, stage.id.text(),
                      held->committed
                          ? "it is committed: nothing more belongs to it"
                          : "it has " + std::to_string(held->ranks) + " ranks, not " + std::to_string(stage.ranks));
  // A segment that no reader accepts would be acknowledged, stored, and lost.
  PERDURE_CHECK(segment::check_describable(stage.piece, stage.id.text()));
  PERDURE_CHECK(check_locatable(node_, stage.id, piece));
  os::crash_point(os::CrashPoint::engine_stage_before_catalog);
  const auto* others = node_.held(stage.id);
  const bool named = others != nullptr && !others->nodes.empty();
  PERDURE_CHECK(node_.catalog.append(catalog::StageRecord{
      stage.id, stage.ranks, piece, named ? std::vector<std::uint64_t>() : nodes_of(stage.launch)}));
  os::crash_point(os::CrashPoint::engine_stage_after_catalog);
  for (const auto& chunk : piece.chunks) {
    if (chunk.place == catalog::kInTemporarySegment) continue;
    writes_.settle({chunk.place, chunk.offset});
    node_.tiers[chunk.place]->written(chunk.offset);
    node_.tier_health[chunk.place].reported = false;
  }
  (void)node_.versions.happens(stage.id, VersionEvent::stage);
  writes_.release(client, &stage.id);  // slots that the rank could not write
  count_chunks(stage.id, piece);
  node_.versions.at(stage.id).staged_by.insert(client);
  if (OpenCapture* open = captures_.find(stage.id)) open->complete(piece);
  return {};
}

base::Status HeldVersions::commit(const ipc::Commit& commit) {
  auto it = node_.catalog.state().versions.find(commit.id);
  if (it == node_.catalog.state().versions.end()) return base::fail(not_held(commit.id));
  Version& version = node_.versions.at(commit.id);
  if (it->second.committed) return commit_more(commit, it->second);
  std::vector<catalog::LocalSegment> segments;
  for (const auto& planned : commit.segments) {
    if (!it->second.has_pieces(planned.ranks)) return base::fail(lacks_a_piece(commit.id, planned));
    segments.push_back({planned.index, planned.count, planned.ranks, false});
  }
  if (version.life == Life::delayed) {
    for (auto& segment : segments) catalog::plan_segment(version.delayed, std::move(segment));
    (void)write_delayed_commits();  // a failure was reported when it first occurred
    return {};
  }
  const auto begun = node_.catalog.state().begun.find(commit.id);
  if (it->second.any_spilled() && begun != node_.catalog.state().begun.end() && begun->second != segments)
    return base::fail(PERDURE_MISMATCH, commit.id.text(),
                      "a part of it is in segments that were begun with other ranks together",
                      "restart with the ranks on the same nodes as before");
  os::crash_point(os::CrashPoint::engine_commit_before_catalog);
  const bool first_delayed = std::none_of(node_.versions.begin(), node_.versions.end(),
                                          [](const auto& v) { return v.second.life == Life::delayed; });
  (void)node_.versions.happens(commit.id, VersionEvent::commit);
  version.delayed = std::move(segments);
  if (auto written = write_delayed_commits(); !written && first_delayed)
    node_.reports.add("catalog: " + written.error().text() + "; " + commit.id.text() +
                      " will be flushed when it can be written again");
  os::crash_point(os::CrashPoint::engine_commit_after_catalog);
  version.staged_by.clear();
  version.remains = false;
  drop_remains(commit.id);
  if (version.begun_s) node_.counters.capture_commits(it->second.bytes(), node_.now_s() - *version.begun_s);
  version.begun_s.reset();  // a version settled after a death, or recovered, was not captured here now
  version.order = next_order_++;
  if (!commit.wanted) hold_back(commit.id, it->second);
  if (!version.write_through()) version.capture.reset();
  give_tiers_another_chance();
  requeue_given_up();
  return {};
}

// Other nodes may skip their parts of it. Older versions that are held back wait as long as it does (docs/adr/0050).
void HeldVersions::hold_back(const segment::VersionId& id, const catalog::HeldVersion& held) {
  const auto& retention = node_.options.retention;
  if (!retention || held.whole_here() || retention->keeps_always(id.version)) return;
  const double now_s = node_.now_s();
  std::uint64_t before_ns = 0;
  for (const auto& [of, stored] : node_.counters.newest_stored)  // the slots of these may have been evicted
    if (of.first == id.name && stored.attempt < id.attempt) before_ns = std::max(before_ns, stored.attempt.created_ns);
  std::vector<Version*> waiting = {&node_.versions.at(id)};
  for (const auto& [other, record] : node_.catalog.state().versions) {
    Version* version = node_.versions.find(other);
    if (other.name != id.name || !(other.attempt < id.attempt) || version == nullptr || !record.committed) continue;
    before_ns = std::max(before_ns, other.attempt.created_ns);
    if (version->held_back_until_s.value_or(0) > now_s) waiting.push_back(version);
  }
  const double until_s = now_s + plan::quiet_s(before_ns, id.attempt.created_ns);
  for (Version* version : waiting) version->held_back_until_s = until_s;
}

// After a loss a node writes more of a version than before. It writes what it can even if another part is missing. All
// ranks of a node say the same after an agreement, so the first one counts.
base::Status HeldVersions::commit_more(const ipc::Commit& commit, const catalog::HeldVersion& held) {
  catalog::CommitRecord record{commit.id, {}};
  std::optional<base::Error> lacking;
  const Version* version = node_.versions.find(commit.id);
  const bool coming = version != nullptr && version->flush != FlushPhase::given_up;
  for (const auto& planned : commit.segments) {
    const bool known = std::any_of(held.segments.begin(), held.segments.end(), [&](const auto& segment) {
      return segment.index == planned.index && segment.count == planned.count &&
             (segment.stored || (coming && segment.ranks == planned.ranks && held.has_pieces(planned.ranks)));
    });
    if (known) continue;
    if (held.has_pieces(planned.ranks))
      record.segments.push_back({planned.index, planned.count, planned.ranks, false});
    else
      lacking = lacks_a_piece(commit.id, planned);
  }
  if (!record.segments.empty()) {
    PERDURE_CHECK(node_.catalog.append(record));
    (void)node_.versions.happens(commit.id, VersionEvent::add_segments);
    node_.versions.at(commit.id).error.reset();
  }
  return lacking ? base::Status(base::fail(*lacking)) : base::Status();
}

// A tier that is avoided because it failed or was slow has no other way to show that it recovered.
void HeldVersions::give_tiers_another_chance() {
  for (TierHealth& trouble : node_.tier_health) trouble.failed = false;
  for (std::size_t t = 0; t < node_.observed.models.size(); ++t) {
    auto& model = node_.observed.models[t];
    if (std::exchange(node_.observed.at_last_commit[t], model.observations()) == model.observations()) model.doubt();
  }
}

base::Status HeldVersions::write_delayed_commits() {
  for (auto& [id, version] : node_.versions) {
    if (version.life != Life::delayed) continue;
    PERDURE_CHECK(node_.catalog.append(catalog::CommitRecord{id, version.delayed}));
    version.delayed.clear();
    recorded(*node_.held(id));
  }
  return {};
}

// The catalog has the commit. If other nodes bring all its pieces to the store, this node has nothing to store.
void HeldVersions::recorded(const catalog::HeldVersion& held) {
  (void)node_.versions.happens(held.id, VersionEvent::record);
  if (held.all_stored()) (void)node_.versions.happens(held.id, VersionEvent::store);
}

void HeldVersions::requeue_given_up() {
  for (const auto& [id, version] : node_.versions)
    if (const auto* held = node_.held(id);
        version.error && version.error->code != PERDURE_CORRUPT && held != nullptr && has_pieces_to_write(*held))
      (void)node_.versions.happens(id, VersionEvent::try_again);
}

base::Status HeldVersions::abort(ClientId client, const segment::VersionId& id) {
  writes_.release(client, &id);
  auto held = node_.catalog.state().versions.find(id);
  if (const Version* version = node_.versions.find(id);
      (version != nullptr && version->life == Life::delayed) ||
      (held != node_.catalog.state().versions.end() && held->second.committed))
    return base::fail(PERDURE_BUSY, id.text(), "it is committed and cannot be aborted", "retire it instead");
  if (Version* version = node_.versions.find(id)) {
    (void)node_.versions.happens(id, VersionEvent::capture_fails);
    version->capture.reset();
  }
  PERDURE_CHECK(redundancy_.drop(id));
  PERDURE_CHECK(drop(id));
  captures_.over(id);
  return {};
}

void HeldVersions::keep_remains(const segment::VersionId& id) {
  if (Version* version = node_.versions.find(id); version != nullptr && version->life == Life::staged)
    version->remains = true;
}

// All ranks have a newer version of that branch, so the outcome of these remains no longer matters to them. Remains
// that the catalog does not drop now do no harm, and go with the next commit.
void HeldVersions::drop_remains(const segment::VersionId& newer) {
  std::vector<segment::VersionId> ids;
  for (const auto& [id, version] : node_.versions)
    if (version.remains && version.pinned_by.empty() && id.name == newer.name && id.attempt < newer.attempt &&
        plan::same_branch(id.attempt, newer.attempt))
      ids.push_back(id);
  for (const auto& id : ids)
    if (redundancy_.drop(id)) (void)drop(id);
}

base::Result<const segment::Piece*> HeldVersions::locate(ClientId client, const segment::VersionId& id,
                                                         std::uint32_t rank) {
  os::crash_point(os::CrashPoint::engine_locate);
  auto it = node_.catalog.state().versions.find(id);
  if (it == node_.catalog.state().versions.end() || !it->second.pieces.contains(rank)) return base::fail(not_held(id));
  const segment::Piece& piece = it->second.pieces.at(rank);
  // A piece on a missing tier has no slot, whatever else is known of it, such as quarantine.
  const bool can_be_read = std::all_of(piece.chunks.begin(), piece.chunks.end(), [&](const auto& chunk) {
    return chunk.place < node_.tiers.size() || chunk.place == catalog::kInTemporarySegment;
  });
  if (!can_be_read) return base::fail(not_held(id));
  Version& version = node_.versions.at(id);
  version.pinned_by.insert(client);
  version.remains = false;  // every rank can have it after all
  return &piece;
}

void HeldVersions::unpin(ClientId client) {
  for (auto it = node_.versions.begin(); it != node_.versions.end();) {
    auto& [id, version] = *it++;  // the call below may erase it
    if (version.pinned_by.erase(client) > 0 && !version.held()) node_.versions.tidy(id);
  }
}

void HeldVersions::pin(ClientId client, const segment::VersionId& id) {
  const auto& sets = node_.catalog.state().redundancy_sets;
  const auto kept = sets.lower_bound({id, 0});
  const Version* version = node_.versions.find(id);
  const bool held = version != nullptr && version->held();
  if (held || (kept != sets.end() && kept->first.version == id)) node_.versions.at(id).pinned_by.insert(client);
}

void HeldVersions::unpin(ClientId client, const segment::VersionId& id) {
  if (Version* version = node_.versions.find(id)) version->pinned_by.erase(client);
  node_.versions.tidy(id);
}

base::Status HeldVersions::quarantine(const ipc::Quarantine& quarantine) {
  auto it = node_.catalog.state().versions.find(quarantine.id);
  if (it == node_.catalog.state().versions.end()) return base::fail(not_held(quarantine.id));
  if (it->second.quarantined.contains({quarantine.rank, quarantine.chunk})) return {};
  PERDURE_CHECK(node_.catalog.append(
      catalog::QuarantineRecord{quarantine.id, quarantine.rank, quarantine.chunk, quarantine.why}));
  ++node_.counters.quarantined_chunks;
  node_.reports.add("quarantine: " + quarantine.id.text() + ", rank " + std::to_string(quarantine.rank) + ", chunk " +
                    std::to_string(quarantine.chunk) + " in a tier: " + quarantine.why + "; it will not be used");
  return {};
}

std::set<segment::VersionId> HeldVersions::named_by(const ipc::Retire& retire) const {
  std::set<segment::VersionId> ids;
  for (const auto& [id, held] : node_.catalog.state().versions)
    if (retire.names(id)) ids.insert(id);
  for (const auto& [id, redundancy_set] : node_.catalog.state().redundancy_sets)
    if (retire.names(id.version)) ids.insert(id.version);
  return ids;
}

base::Status HeldVersions::retire(const ipc::Retire& retire) {
  const auto ids = named_by(retire);
  PERDURE_CHECK(redundancy_.retired(retire));
  for (const auto& id : ids) {
    PERDURE_CHECK(drop(id));
    PERDURE_CHECK(redundancy_.drop(id));
  }
  return {};
}

void HeldVersions::client_gone(ClientId client) {
  for (auto& [id, version] : node_.versions) version.staged_by.erase(client);
  unpin(client);
}

bool HeldVersions::has_pieces_to_write(const catalog::HeldVersion& held) {
  return std::any_of(held.segments.begin(), held.segments.end(),
                     [&](const auto& segment) { return !segment.stored && held.has_pieces(segment.ranks); });
}

bool HeldVersions::can_be_written(const catalog::HeldVersion& held, const catalog::LocalSegment& segment) {
  return std::all_of(segment.ranks.begin(), segment.ranks.end(),
                     [&held](std::uint32_t rank) { return held.restorable(rank) || held.spilled(rank); });
}

std::vector<ipc::HeldSummary> HeldVersions::inventory(const std::string& name, std::uint64_t launch) const {
  std::vector<ipc::HeldSummary> list;
  for (const auto& [id, held] : node_.catalog.state().versions) {
    if (!name.empty() && id.name != name) continue;
    // An empty name asks for everything, to settle what dead ranks left. A capture whose ranks are still connected is
    // theirs to decide.
    const Version* version = node_.versions.find(id);
    const bool theirs = name.empty() && version != nullptr && !version->staged_by.empty();
    const bool delayed = version != nullptr && version->life == Life::delayed;
    ipc::HeldSummary summary{id, held.ranks, {}, held.committed || delayed || theirs, held.all_stored(), {}, {}};
    for (const auto& [rank, piece] : held.pieces) {
      if (held.restorable(rank)) summary.held.push_back(rank);
      if (held.spilled(rank) && !held.stored(rank)) summary.spilled.push_back(rank);
    }
    for (const auto& [rank, piece] : held.unreachable) summary.unreachable.push_back(rank);
    summary.capturing = theirs && !held.committed && !delayed;
    if (!summary.committed) summary.capture_nodes = capture_nodes(held, launch);
    if (const auto begun = node_.catalog.state().begun.find(id); begun != node_.catalog.state().begun.end())
      for (const auto& segment : begun->second) summary.begun.push_back({segment.index, segment.count, segment.ranks});
    const auto& segments = delayed ? version->delayed : held.segments;
    for (const auto& segment : segments)
      if (segment.stored || can_be_written(held, segment))
        summary.segments.push_back({segment.index, segment.count, segment.ranks});
    list.push_back(std::move(summary));
  }
  return list;
}

void HeldVersions::release_slots(const catalog::HeldVersion& held) {
  for (const auto* pieces : {&held.pieces, &held.unreachable})
    for (const auto& [rank, piece] : *pieces)
      for (const auto& chunk : piece.chunks)
        if (chunk.place < node_.tiers.size()) node_.release_slot(held.id, {chunk.place, chunk.offset});
}

base::Status HeldVersions::drop(const segment::VersionId& id) {
  auto it = node_.catalog.state().versions.find(id);
  if (it == node_.catalog.state().versions.end()) return {};
  const catalog::HeldVersion held = it->second;
  PERDURE_CHECK(node_.catalog.append(catalog::DropRecord{id}));
  release_slots(held);
  captures_.over(id);
  return {};
}

}  // namespace perdure::engine
