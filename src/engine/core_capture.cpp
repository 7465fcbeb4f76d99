// Captures that are flushed before their commit. (docs/adr/0009)
#include <algorithm>

#include "engine/core.hpp"
#include "engine/now.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

std::uint64_t largest_chunk(const OpenCapture& capture) {
  std::uint64_t largest = 0;
  for (const auto& [rank, piece] : capture.pieces)
    for (const auto& chunk : piece.chunks) largest = std::max(largest, chunk.length);
  return largest;
}

}  // namespace

void Core::begin_capture(ClientId client, const ipc::Begin& begin) {
  counters_.capture_begins(begin.id, now_s());
  OpenCapture& capture = open_captures_[begin.id];
  const bool before = capture.contradicted;
  if (!capture.add(client, begin)) {
    if (!before)
      reports_.add(begin.id.text() + ": rank " + std::to_string(begin.piece.rank) +
                   " announced a capture that contradicts what others said; it is flushed after the checkpoint only");
    return;
  }
  const std::uint64_t bytes = largest_chunk(capture);
  if (!capture.announced() || bytes == 0 || tiers_.empty()) return;
  const auto first = look_at_tier({begin.id, bytes, 0, {}, {}}, 0, Sacrifice::stored);
  const auto own = chunks_in_flight_.find(begin.id);  // granted before all had announced
  const std::uint64_t room = (first.free_slots + (own == chunks_in_flight_.end() ? 0 : own->second[0])) * bytes;
  capture.flushed_early |= flush_before_commit(options_.during_capture, capture.bytes(), room);
}

// It was thought to fit, but others were there first.
void Core::consider_early_flush(const segment::VersionId& id, const GrantOutcome& outcome) {
  const bool first = outcome.kind == GrantOutcome::Kind::granted && outcome.address.tier == 0;
  const auto capture = open_captures_.find(id);
  if (first || capture == open_captures_.end() || !capture->second.announced()) return;
  capture->second.flushed_early |= options_.during_capture != DuringCapture::never;
}

// A hash that is told twice must be the same: the first may be what a flush went by.
base::Status Core::note_written(const ipc::Written& written) {
  const auto capture = open_captures_.find(written.id);
  if (capture == open_captures_.end() || capture->second.contradicted) return {};
  const ChunkName name{written.rank, written.chunk};
  auto* chunk = capture->second.find(name);
  if (chunk == nullptr || chunk->length != written.bytes || chunk->place != kNotWritten)
    return base::fail(PERDURE_INVALID_ARGUMENT, written.id.text(), "a chunk is not what was announced");
  *chunk = {written.slot, written.bytes, written.hash, written.tier};
  capture->second.written.push_back(name);
  return {};
}

// The piece as it is by now: chunks that moved are where they went.
base::Result<segment::Piece> Core::placed(ClientId client, const ipc::Stage& stage) {
  segment::Piece piece = stage.piece;
  const auto capture = open_captures_.find(stage.id);
  OpenCapture* open = capture == open_captures_.end() ? nullptr : &capture->second;
  if (open != nullptr && open->failure) return base::fail(*open->failure);
  const auto announced = open == nullptr ? decltype(open->pieces.begin()){} : open->pieces.find(piece.rank);
  const bool known = open != nullptr && announced != open->pieces.end();
  if (known && open->flushed_early &&
      (announced->second.regions != piece.regions || announced->second.chunks.size() != piece.chunks.size()))
    return base::fail(PERDURE_INVALID_ARGUMENT, stage.id.text(), "the piece is not what was announced");
  std::set<SlotKey> slots;
  for (std::uint32_t c = 0; c < piece.chunks.size(); ++c) {
    auto& chunk = piece.chunks[c];
    const segment::ChunkEntry* written = known ? open->find({piece.rank, c}) : nullptr;
    if (written != nullptr && written->place == catalog::kInTemporarySegment && written->hash == chunk.hash) {
      chunk = *written;
      continue;
    }
    const auto it = in_flight_.find({chunk.place, chunk.offset});
    const bool granted = it != in_flight_.end() && it->second.client == client && it->second.id == stage.id &&
                         chunk.length <= it->second.bytes;
    const bool same = written == nullptr || written->place == kNotWritten || *written == chunk;
    if (!granted || !same || !slots.emplace(chunk.place, chunk.offset).second)
      return base::fail(PERDURE_INVALID_ARGUMENT, stage.id.text(), "a chunk names a slot that was not granted for it");
  }
  return piece;
}

bool Core::flushed_early(const segment::VersionId& id) const {
  if (const auto flush = under_way_.find(id); flush != under_way_.end() && flush->second.early) return true;
  const auto capture = open_captures_.find(id);
  return capture != open_captures_.end() && capture->second.flushed_early && !capture->second.failure;
}

// It is, or will be when its ranks have said what they write, should slots run out.
bool Core::may_be_flushed_early(const segment::VersionId& id) const {
  if (flushed_early(id)) return true;
  const auto capture = open_captures_.find(id);
  return capture != open_captures_.end() && options_.during_capture != DuringCapture::never &&
         capture->second.being_announced();
}

void Core::capture_fails(const segment::VersionId& id, const base::Error& error) {
  const auto capture = open_captures_.find(id);
  if (capture == open_captures_.end() || capture->second.failure) return;
  capture->second.failure = error;
}

std::optional<segment::VersionId> Core::next_early_flush() {
  for (const auto& [id, capture] : open_captures_) {
    if (!capture.flushed_early || capture.failure || under_way_.contains(id)) continue;
    under_way_[id].early = true;
    return id;
  }
  return std::nullopt;
}

bool Core::any_flushed_early() const {
  return std::any_of(open_captures_.begin(), open_captures_.end(),
                     [](const auto& entry) { return entry.second.flushed_early; }) ||
         std::any_of(under_way_.begin(), under_way_.end(), [](const auto& entry) { return entry.second.early; });
}

// A segment with a damaged piece fails, and those after it would not be tried; one that lacks a piece cannot be begun.
catalog::HeldVersion Core::writable_first(catalog::HeldVersion held) {
  std::erase_if(held.segments, [&](const auto& segment) { return !segment.stored && !held.has_pieces(segment.ranks); });
  std::stable_partition(held.segments.begin(), held.segments.end(),
                        [&](const auto& segment) { return segment.stored || can_be_written(held, segment); });
  return held;
}

std::optional<catalog::HeldVersion> Core::begin_attempt(const segment::VersionId& id) {
  const auto* held = find(id);
  if (const auto run = runtime_.find(id); run != runtime_.end()) {
    run->second.flush = FlushState::running;
    run->second.bytes_flushed = 0;
  }
  if (held != nullptr && held->committed) return writable_first(*held);
  const auto capture = open_captures_.find(id);
  if (capture == open_captures_.end() || capture->second.failure) return std::nullopt;
  return catalog::HeldVersion{id, capture->second.ranks, capture->second.pieces, false, capture->second.segments, {}};
}

CaptureNews Core::capture_news(const segment::VersionId& id, std::size_t& seen) const {
  CaptureNews news;
  const auto* held = find(id);
  const bool committed = held != nullptr && held->committed;
  const auto capture = open_captures_.find(id);
  if (capture == open_captures_.end() || capture->second.failure) return news;
  news.state = committed ? CaptureNews::State::committed : CaptureNews::State::open;
  const OpenCapture& open = capture->second;
  for (; seen < open.written.size(); ++seen) {
    news.written.push_back(open.written[seen]);
    news.chunks.push_back(open.pieces.at(open.written[seen].rank).chunks[open.written[seen].chunk]);
  }
  return news;
}

base::Status Core::note_begun(const segment::VersionId& id, const std::vector<catalog::LocalSegment>& segments) {
  const auto begun = catalog_.state().begun.find(id);
  if (begun != catalog_.state().begun.end() && begun->second == segments) return {};
  return catalog_.append(catalog::BegunRecord{id, segments});
}

void Core::early_flush_over(const segment::VersionId& id, const std::optional<base::Error>& error) {
  under_way_.erase(id);
  if (error) capture_fails(id, *error);
  if (const auto* held = find(id); held != nullptr && held->committed) open_captures_.erase(id);
}

// Who died before it staged its piece has taken the whole version with it. Of who has not announced one only the rank
// is known, which may be that of another application: nobody counts on such a capture any more.
void Core::leave_captures(ClientId client, std::optional<std::uint32_t> rank) {
  for (auto& [id, capture] : open_captures_)
    if (rank && capture.has(*rank) && !capture.pieces.contains(*rank)) capture.deserted = true;
  for (auto it = open_captures_.begin(); it != open_captures_.end();) {
    OpenCapture& capture = it->second;
    const auto gone = std::erase_if(capture.clients, [client](const auto& entry) { return entry.second == client; });
    if (gone > 0)
      capture_fails(it->first, {PERDURE_PEER_FAILED, it->first.text(), "a rank of this node ended during the capture",
                                "see why it ended", true});
    if (gone == 0 || !capture.clients.empty() || find(it->first) != nullptr) {
      ++it;
      continue;
    }
    counters_.capture_over(it->first);
    it = open_captures_.erase(it);
  }
}

std::optional<catalog::BegunRecord> Core::next_leftover() const {
  for (const auto& [id, segments] : catalog_.state().begun) {
    const auto* held = find(id);
    if (!under_way_.contains(id) && !open_captures_.contains(id) && (held == nullptr || held->all_stored()))
      return catalog::BegunRecord{id, segments};
  }
  return std::nullopt;
}

bool Core::slots_wanted() const {
  return std::any_of(open_captures_.begin(), open_captures_.end(),
                     [](const auto& entry) { return !entry.second.clients.empty(); });
}

}  // namespace perdure::engine
