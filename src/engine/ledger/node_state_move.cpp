// Slots whose chunk is also in its temporary segment: they are used again when somebody needs them. (docs/adr/0009)
#include <algorithm>

#include "engine/ledger/node_state.hpp"
#include "engine/ledger/now.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {

const segment::ChunkEntry* NodeState::find_chunk(const segment::VersionId& id, const ChunkName& name) const {
  if (const auto* held = find(id); held != nullptr) {
    const auto piece = held->pieces.find(name.rank);
    if (piece != held->pieces.end())
      return name.chunk < piece->second.chunks.size() ? &piece->second.chunks[name.chunk] : nullptr;
  }
  const OpenCapture* open = capture(id);
  return open == nullptr ? nullptr : open->find(name);
}

bool NodeState::is_in(const segment::VersionId& id, const ChunkName& name, SlotKey slot) const {
  const auto* chunk = find_chunk(id, name);
  return chunk != nullptr && chunk->place == slot.first && chunk->offset == slot.second;
}

std::optional<metrics::FlushRate::Started> NodeState::flush_chunk_begins(const segment::VersionId& id,
                                                                         const FlushedChunk& chunk) {
  if (!is_in(id, chunk.name, chunk.slot)) return std::nullopt;
  (void)slots_.happens(chunk.slot, SlotEvent::read_begins);
  interference_.flush_begins(now_s());
  return flush_rate_.begins(chunk.slot.first);
}

std::optional<metrics::FlushRate::Observation> NodeState::flush_chunk_ended(const segment::VersionId& id,
                                                                            const FlushedChunk& chunk,
                                                                            const metrics::FlushRate::Started& started,
                                                                            bool stored, bool movable) {
  interference_.flush_ends(now_s());
  const bool given_up = slots_.state(chunk.slot).reading == SlotReading::yes_then_free;
  (void)slots_.happens(chunk.slot, SlotEvent::read_ends);
  if (!stored) {
    flush_rate_.abandoned(chunk.slot.first, started);
    return std::nullopt;
  }
  counters_.flushed_chunk_bytes += chunk.bytes;
  const auto observed = flush_rate_.finished(chunk.slot.first, started, static_cast<double>(chunk.bytes));
  Version* version = versions_.find(id);
  if (version != nullptr && version->held()) version->bytes_flushed += chunk.bytes;
  if (movable && !given_up && is_in(id, chunk.name, chunk.slot))
    version->flushed[chunk.slot.first][chunk.slot.second] = {chunk.name, chunk.offset};
  return observed;
}

void NodeState::release_slot(const segment::VersionId& id, SlotKey slot) {
  if (Version* version = versions_.find(id)) version->flushed[slot.first].erase(slot.second);
  (void)slots_.happens(slot, SlotEvent::free);
}

bool NodeState::may_move(const segment::VersionId& id) const {
  const Version* version = versions_.find(id);
  return version == nullptr || version->pinned_by.empty();
}

std::uint64_t NodeState::count_flushed(std::uint32_t tier) const {
  std::uint64_t count = 0;
  for (const auto& [id, version] : versions_) {
    const auto on_tier = version.flushed.find(tier);
    if (on_tier != version.flushed.end() && may_move(id)) count += on_tier->second.size();
  }
  return count;
}

std::uint64_t NodeState::chunks_to_move(const segment::VersionId& id) const {
  const Version* version = versions_.find(id);
  return version == nullptr ? 0 : version->chunks_flushed();
}

// A slot of this tier is free after it; false when there is none to be had.
bool NodeState::move_one(std::uint32_t tier) {
  for (auto& [id, version] : versions_) {
    const auto on_tier = version.flushed.find(tier);
    if (on_tier == version.flushed.end() || on_tier->second.empty() || !may_move(id)) continue;
    const auto [number, flushed] = *on_tier->second.begin();  // copied: it is gone when it has moved
    const SlotKey slot{tier, number};
    if (auto moved = move(segment::VersionId(id), slot, flushed); !moved) {
      catalog_error_ = moved.error();
      return false;
    }
    return true;
  }
  return false;
}

base::Status NodeState::move(const segment::VersionId& id, SlotKey slot, const Version::Flushed& flushed) {
  const ChunkName name = flushed.name;
  const auto* held = find(id);
  const bool staged = held != nullptr && held->pieces.contains(name.rank);
  if (staged) {
    if (!catalog_.state().begun.contains(id)) PERDURE_CHECK(note_begun(id, held->segments));
    os::crash_point(os::CrashPoint::move_before_catalog);
    PERDURE_CHECK(catalog_.append(catalog::MovedRecord{id, name.rank, {{name.chunk, flushed.offset}}}));
    os::crash_point(os::CrashPoint::move_after_catalog);
    --versions_.at(id).chunks[slot.first];
  } else {
    settle(slot);
  }
  if (OpenCapture* open = capture(id)) {
    if (auto* chunk = open->find(name); chunk != nullptr) {
      chunk->place = catalog::kInTemporarySegment;
      chunk->offset = flushed.offset;
    }
  }
  ++moved_chunks_;
  release_slot(id, slot);
  return {};
}

bool NodeState::attempt_over(const segment::VersionId& id) {
  if (Version* version = versions_.find(id)) version->flushed.clear();
  const auto* held = find(id);
  if (held != nullptr && held->any_moved()) return !held->all_stored();
  const OpenCapture* open = capture(id);
  if (open == nullptr || open->failure) return false;
  const auto& pieces = open->pieces;
  return std::any_of(pieces.begin(), pieces.end(), [](const auto& entry) {
    return std::any_of(entry.second.chunks.begin(), entry.second.chunks.end(),
                       [](const auto& chunk) { return chunk.place == catalog::kInTemporarySegment; });
  });
}

}  // namespace perdure::engine
