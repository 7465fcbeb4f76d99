// Slots whose chunk is also in its temporary segment: they are used again when somebody needs them. (docs/adr/0009)
#include <algorithm>

#include "engine/core.hpp"
#include "engine/now.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {

const segment::ChunkEntry* Core::find_chunk(const segment::VersionId& id, const ChunkName& name) const {
  if (const auto* held = find(id); held != nullptr) {
    const auto piece = held->pieces.find(name.rank);
    if (piece != held->pieces.end())
      return name.chunk < piece->second.chunks.size() ? &piece->second.chunks[name.chunk] : nullptr;
  }
  const auto capture = open_captures_.find(id);
  return capture == open_captures_.end() ? nullptr : capture->second.find(name);
}

bool Core::is_in(const segment::VersionId& id, const ChunkName& name, SlotKey slot) const {
  const auto* chunk = find_chunk(id, name);
  return chunk != nullptr && chunk->place == slot.first && chunk->offset == slot.second;
}

std::optional<metrics::FlushRate::Started> Core::flush_chunk_begins(const segment::VersionId& id,
                                                                    const FlushedChunk& chunk) {
  if (!is_in(id, chunk.name, chunk.slot)) return std::nullopt;
  being_read_[chunk.slot] = false;
  ++readers_[chunk.slot.first];
  interference_.flush_begins(now_s());
  return flush_rate_.started(now_s());
}

void Core::flush_chunk_reads(const FlushedChunk& chunk, metrics::FlushRate::Started& started, bool reading) {
  if (reading != started.reading) reading ? ++readers_[chunk.slot.first] : --readers_[chunk.slot.first];
  flush_rate_.reads(now_s(), started, reading);
}

std::optional<metrics::FlushRate::Observation> Core::flush_chunk_ended(const segment::VersionId& id,
                                                                       const FlushedChunk& chunk,
                                                                       const metrics::FlushRate::Started& started,
                                                                       bool stored, bool movable) {
  if (started.reading) --readers_[chunk.slot.first];
  interference_.flush_ends(now_s());
  const auto read = being_read_.extract(chunk.slot);
  const bool given_up = !read.empty() && read.mapped();
  if (given_up) tiers_[chunk.slot.first]->release(chunk.slot.second);
  if (!stored) {
    flush_rate_.abandoned(now_s(), started);
    return std::nullopt;
  }
  counters_.flushed_chunk_bytes += chunk.bytes;
  const auto observed = flush_rate_.finished(now_s(), started, static_cast<double>(chunk.bytes));
  if (const auto run = runtime_.find(id); run != runtime_.end()) run->second.bytes_flushed += chunk.bytes;
  if (movable && !given_up && is_in(id, chunk.name, chunk.slot))
    under_way_[id].flushed[chunk.slot.first][chunk.slot.second] = {chunk.name, chunk.offset};
  return observed;
}

// Nobody may get a slot that a flush still reads.
void Core::release_slot(const segment::VersionId& id, SlotKey slot) {
  if (const auto flush = under_way_.find(id); flush != under_way_.end())
    flush->second.flushed[slot.first].erase(slot.second);
  if (const auto read = being_read_.find(slot); read != being_read_.end())
    read->second = true;
  else
    tiers_[slot.first]->release(slot.second);
}

bool Core::may_move(const segment::VersionId& id) const {
  const auto run = runtime_.find(id);
  return run == runtime_.end() || run->second.pinned_by.empty();
}

std::uint64_t Core::count_flushed(std::uint32_t tier) const {
  std::uint64_t count = 0;
  for (const auto& [id, flush] : under_way_) {
    const auto on_tier = flush.flushed.find(tier);
    if (on_tier != flush.flushed.end() && may_move(id)) count += on_tier->second.size();
  }
  return count;
}

std::uint64_t Core::chunks_to_move(const segment::VersionId& id) const {
  std::uint64_t count = 0;
  if (const auto flush = under_way_.find(id); flush != under_way_.end())
    for (const auto& [tier, slots] : flush->second.flushed) count += slots.size();
  return count;
}

// A slot of this tier is free after it; false when there is none to be had.
bool Core::move_one(std::uint32_t tier) {
  for (auto& [id, flush] : under_way_) {
    const auto on_tier = flush.flushed.find(tier);
    if (on_tier == flush.flushed.end() || on_tier->second.empty() || !may_move(id)) continue;
    const auto [number, flushed] = *on_tier->second.begin();  // copied: it is gone when it has moved
    const SlotKey slot{tier, number};
    if (auto moved = move(id, slot, flushed); !moved) {
      catalog_error_ = moved.error();
      return false;
    }
    return true;
  }
  return false;
}

base::Status Core::move(const segment::VersionId& id, SlotKey slot, const FlushUnderWay::Flushed& flushed) {
  const ChunkName name = flushed.name;
  const auto* held = find(id);
  const bool staged = held != nullptr && held->pieces.contains(name.rank);
  if (staged) {
    if (!catalog_.state().begun.contains(id)) PERDURE_CHECK(note_begun(id, held->segments));
    os::crash_point(os::CrashPoint::move_before_catalog);
    PERDURE_CHECK(catalog_.append(catalog::MovedRecord{id, name.rank, {{name.chunk, flushed.offset}}}));
    os::crash_point(os::CrashPoint::move_after_catalog);
    --runtime_[id].chunks[slot.first];
  } else if (const auto it = in_flight_.find(slot); it != in_flight_.end()) {
    forget_in_flight(slot, it->second);
    in_flight_.erase(it);
  }
  if (const auto capture = open_captures_.find(id); capture != open_captures_.end()) {
    if (auto* chunk = capture->second.find(name); chunk != nullptr) {
      chunk->place = catalog::kInTemporarySegment;
      chunk->offset = flushed.offset;
    }
  }
  ++moved_chunks_;
  release_slot(id, slot);
  return {};
}

bool Core::attempt_over(const segment::VersionId& id) {
  if (const auto flush = under_way_.find(id); flush != under_way_.end()) {
    flush->second.flushed.clear();
    if (!flush->second.early) under_way_.erase(flush);
  }
  const auto* held = find(id);
  if (held != nullptr && held->any_moved()) return !held->all_stored();
  const auto capture = open_captures_.find(id);
  if (capture == open_captures_.end() || capture->second.failure) return false;
  const auto& pieces = capture->second.pieces;
  return std::any_of(pieces.begin(), pieces.end(), [](const auto& entry) {
    return std::any_of(entry.second.chunks.begin(), entry.second.chunks.end(),
                       [](const auto& chunk) { return chunk.place == catalog::kInTemporarySegment; });
  });
}

}  // namespace perdure::engine
