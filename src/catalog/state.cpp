#include "catalog/state.hpp"

#include <algorithm>
#include <utility>

namespace perdure::catalog {
namespace {

// The content of a tier that came up under another incarnation is gone: pieces with chunks there cannot be used any
// more.
void forget_tier(State& state, std::uint32_t tier) {
  for (auto& [id, held] : state.versions)
    std::erase_if(held.pieces, [tier](const auto& entry) {
      const auto& chunks = entry.second.chunks;
      return std::any_of(chunks.begin(), chunks.end(), [tier](const auto& chunk) { return chunk.place == tier; });
    });
  std::erase_if(state.versions, [](const auto& entry) { return entry.second.pieces.empty(); });
  for (auto& [id, redundancy_set] : state.redundancy_sets)
    if (std::erase_if(redundancy_set.kept, [tier](const auto& entry) { return entry.second.place == tier; }) > 0)
      redundancy_set.reached = false;
}

bool has_spilled(const segment::Piece& piece) {
  return std::any_of(piece.chunks.begin(), piece.chunks.end(),
                     [](const auto& chunk) { return chunk.place == kInTemporarySegment; });
}

bool is_quarantined(const HeldVersion& held, std::uint32_t rank) {
  return std::any_of(held.quarantined.begin(), held.quarantined.end(),
                     [rank](const auto& entry) { return entry.first == rank; });
}

void set_stored(State& state, const segment::VersionId& id, std::uint32_t index, bool stored) {
  const auto it = state.versions.find(id);
  if (it == state.versions.end()) return;
  for (LocalSegment& segment : it->second.segments)
    if (segment.index == index) segment.stored = stored;
}

void apply_incarnation(State& state, const IncarnationRecord& record) {
  const auto [known, first] = state.incarnations.insert({record.name, record.incarnation});
  if (first || std::exchange(known->second, record.incarnation) == record.incarnation) return;
  for (auto& [id, held] : state.versions)
    if (id.name == record.name)
      for (LocalSegment& segment : held.segments) segment.stored = false;
}

void apply_commit(HeldVersion& held, const CommitRecord& commit) {
  if (!std::exchange(held.committed, true)) held.segments.clear();
  held.nodes.clear();
  for (const LocalSegment& segment : commit.segments) plan_segment(held.segments, segment);
}

void apply_spilled(State& state, const SpilledRecord& spilled) {
  const auto it = state.versions.find(spilled.id);
  const auto piece =
      it == state.versions.end() ? decltype(it->second.pieces.begin()){} : it->second.pieces.find(spilled.rank);
  if (it == state.versions.end() || piece == it->second.pieces.end()) return;
  for (const auto& chunk : spilled.chunks) {
    if (chunk.chunk >= piece->second.chunks.size()) continue;
    piece->second.chunks[chunk.chunk].place = kInTemporarySegment;
    piece->second.chunks[chunk.chunk].offset = chunk.offset;
  }
}

void apply_bad_block(State& state, const BadBlockRecord& bad) {
  const auto it = state.redundancy_sets.find(bad.id);
  if (it == state.redundancy_sets.end()) return;
  const auto unreachable = state.unreachable_blocks.find(bad.id);
  const bool known = unreachable != state.unreachable_blocks.end();
  const bool gone = known && unreachable->second.blocks.erase(bad.block) > 0;
  if (it->second.kept.erase(bad.block) == 0 && !gone) return;
  it->second.reached = false;
  if (known) unreachable->second.reached = false;
}

// While a part of it is unreachable, it has not reached its level here; with that part it has.
void apply_reached(State& state, const ReachedRecord& reached) {
  const auto it = state.redundancy_sets.find(reached.id);
  if (it == state.redundancy_sets.end()) return;
  const auto unreachable = state.unreachable_blocks.find(reached.id);
  (unreachable == state.unreachable_blocks.end() ? it->second.reached : unreachable->second.reached) = true;
}

void apply_to_redundancy(State& state, const Record& record) {
  if (const auto* redundancy = std::get_if<RedundancyRecord>(&record)) {
    state.redundancy_sets[redundancy->redundancy_set.id] = redundancy->redundancy_set;
    state.redundancy_sets[redundancy->redundancy_set.id].reached = false;
    state.unreachable_blocks.erase(redundancy->redundancy_set.id);
  } else if (const auto* reached = std::get_if<ReachedRecord>(&record)) {
    apply_reached(state, *reached);
  } else if (const auto* bad = std::get_if<BadBlockRecord>(&record)) {
    apply_bad_block(state, *bad);
  } else if (const auto* drop_redundancy = std::get_if<DropRedundancyRecord>(&record)) {
    state.redundancy_sets.erase(drop_redundancy->id);
    state.unreachable_blocks.erase(drop_redundancy->id);
  } else if (const auto* superseded = std::get_if<SupersededRecord>(&record)) {
    if (superseded->attempt_ns == 0)
      state.superseded.erase(superseded->name);
    else
      state.superseded[superseded->name] = *superseded;
  }
}

}  // namespace

void plan_segment(std::vector<LocalSegment>& segments, LocalSegment segment) {
  const auto same = std::find_if(segments.begin(), segments.end(),
                                 [&](const LocalSegment& other) { return other.index == segment.index; });
  if (same == segments.end())
    segments.push_back(std::move(segment));
  else if (!same->stored)
    *same = std::move(segment);
}

bool HeldVersion::all_stored() const {
  return committed && std::all_of(segments.begin(), segments.end(), [](const LocalSegment& s) { return s.stored; });
}

std::uint64_t HeldVersion::bytes() const {
  std::uint64_t total = 0;
  for (const auto& [rank, piece] : pieces) total += piece.capture_bytes();
  return total;
}

bool HeldVersion::restorable(std::uint32_t rank) const {
  const auto piece = pieces.find(rank);
  return piece != pieces.end() && !is_quarantined(*this, rank) && !has_spilled(piece->second);
}

bool HeldVersion::spilled(std::uint32_t rank) const {
  const auto piece = pieces.find(rank);
  return piece != pieces.end() && !is_quarantined(*this, rank) && has_spilled(piece->second);
}

bool HeldVersion::any_spilled() const {
  return std::any_of(pieces.begin(), pieces.end(), [](const auto& entry) { return has_spilled(entry.second); });
}

bool HeldVersion::has_pieces(const std::vector<std::uint32_t>& of_ranks) const {
  return std::all_of(of_ranks.begin(), of_ranks.end(), [this](std::uint32_t rank) { return pieces.contains(rank); });
}

bool HeldVersion::stored(std::uint32_t rank) const {
  return std::any_of(segments.begin(), segments.end(), [rank](const LocalSegment& segment) {
    return segment.stored && std::find(segment.ranks.begin(), segment.ranks.end(), rank) != segment.ranks.end();
  });
}

void State::apply(const Record& record) {
  if (const auto* tier = std::get_if<TierRecord>(&record)) {
    auto it = tiers.find(tier->tier);
    if (it == tiers.end() || it->second.incarnation != tier->incarnation || it->second.name != tier->name)
      forget_tier(*this, tier->tier);
    tiers[tier->tier] = *tier;
  } else if (const auto* stage = std::get_if<StageRecord>(&record)) {
    HeldVersion& held = versions[stage->id];
    held.id = stage->id;
    held.ranks = stage->ranks;
    held.pieces[stage->piece.rank] = stage->piece;
    held.unreachable.erase(stage->piece.rank);
    if (!held.committed && !stage->nodes.empty()) held.nodes = stage->nodes;
    // A rebuilt piece replaces one that failed verification.
    std::erase_if(held.quarantined, [&](const auto& entry) { return entry.first == stage->piece.rank; });
  } else if (const auto* commit = std::get_if<CommitRecord>(&record)) {
    if (auto it = versions.find(commit->id); it != versions.end()) apply_commit(it->second, *commit);
  } else if (const auto* stored = std::get_if<StoredRecord>(&record)) {
    set_stored(*this, stored->id, stored->segment, true);
  } else if (const auto* gone = std::get_if<GoneRecord>(&record)) {
    set_stored(*this, gone->id, gone->segment, false);
  } else if (const auto* incarnation = std::get_if<IncarnationRecord>(&record)) {
    apply_incarnation(*this, *incarnation);
  } else if (const auto* begun_now = std::get_if<BegunRecord>(&record)) {
    if (begun_now->segments.empty())
      begun.erase(begun_now->id);
    else
      begun[begun_now->id] = begun_now->segments;
  } else if (const auto* spilled = std::get_if<SpilledRecord>(&record)) {
    apply_spilled(*this, *spilled);
  } else if (const auto* drop = std::get_if<DropRecord>(&record)) {
    versions.erase(drop->id);
  } else if (const auto* quarantine = std::get_if<QuarantineRecord>(&record)) {
    if (auto it = versions.find(quarantine->id); it != versions.end())
      it->second.quarantined.insert({quarantine->rank, quarantine->chunk});
  } else {
    apply_to_redundancy(*this, record);
  }
}

std::vector<Record> State::snapshot() const {
  std::vector<Record> records;
  for (const auto& [number, tier] : tiers) records.emplace_back(tier);
  for (const auto& [name, incarnation] : incarnations) records.emplace_back(IncarnationRecord{name, incarnation});
  for (const auto& [id, segments] : begun) records.emplace_back(BegunRecord{id, segments});
  for (const auto& [id, held] : versions) {
    std::vector<std::uint64_t> nodes = held.nodes;
    for (const auto* pieces : {&held.pieces, &held.unreachable})
      for (const auto& [rank, piece] : *pieces)
        records.emplace_back(StageRecord{id, held.ranks, piece, std::exchange(nodes, {})});
    if (held.committed) records.emplace_back(CommitRecord{id, held.segments});
    for (const auto& [rank, chunk] : held.quarantined)
      records.emplace_back(QuarantineRecord{id, rank, chunk, "kept from before"});
  }
  for (const auto& [id, redundancy_set] : redundancy_sets) {
    RedundancyRecord record{redundancy_set};
    bool reached = redundancy_set.reached;
    if (const auto unreachable = unreachable_blocks.find(id); unreachable != unreachable_blocks.end()) {
      record.redundancy_set.kept.insert(unreachable->second.blocks.begin(), unreachable->second.blocks.end());
      reached = unreachable->second.reached;
    }
    records.emplace_back(std::move(record));
    if (reached) records.emplace_back(ReachedRecord{id});
  }
  for (const auto& [name, record] : superseded) records.emplace_back(record);
  return records;
}

}  // namespace perdure::catalog
