// Captures that are flushed before their commit. (docs/adr/0009)
#include <algorithm>

#include "engine/ledger/node_state.hpp"
#include "engine/ledger/now.hpp"
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

void NodeState::begin_capture(ClientId client, const ipc::Begin& begin) {
  (void)versions_.happens(begin.id, VersionEvent::announce);
  Version& version = versions_.at(begin.id);
  if (!version.begun_s) {
    counters_.capture_begins();
    version.begun_s = now_s();
  }
  if (!version.capture) version.capture.emplace();
  OpenCapture& capture = *version.capture;
  const bool before = capture.contradicted;
  if (!capture.add(client, begin)) {
    if (!before)
      reports_.add(begin.id.text() + ": rank " + std::to_string(begin.piece.rank) +
                   " announced a capture that contradicts what others said; it is flushed after the checkpoint only");
    return;
  }
  const std::uint64_t bytes = largest_chunk(capture);
  if (!capture.announced() || bytes == 0 || tiers_.empty()) return;
  const auto first = observe_tier({begin.id, bytes, 0, {}, {}}, 0, EvictionScope::stored);
  const std::uint64_t own = version.granted.empty() ? 0 : version.granted[0];  // before all had announced
  const std::uint64_t room = (first.free_slots + own) * bytes;
  if (flush_before_commit(options_.during_capture, capture.bytes(), room)) choose_write_through(begin.id);
}

// It was thought to fit, but others were there first.
void NodeState::consider_early_flush(const segment::VersionId& id, const GrantOutcome& outcome) {
  const bool first = outcome.kind == GrantOutcome::Kind::granted && outcome.address.tier == 0;
  const OpenCapture* open = capture(id);
  if (first || open == nullptr || !open->announced()) return;
  if (options_.during_capture != DuringCapture::never) choose_write_through(id);
}

void NodeState::choose_write_through(const segment::VersionId& id) {
  if (!capture(id)->failure) (void)versions_.happens(id, VersionEvent::choose);
}

OpenCapture* NodeState::capture(const segment::VersionId& id) {
  Version* version = versions_.find(id);
  return version != nullptr && version->capture ? &*version->capture : nullptr;
}

const OpenCapture* NodeState::capture(const segment::VersionId& id) const {
  return const_cast<NodeState*>(this)->capture(id);
}

// A hash that is told twice must be the same: the first may be what a flush went by.
base::Status NodeState::note_written(const ipc::Written& written) {
  OpenCapture* open = capture(written.id);
  if (open == nullptr || open->contradicted) return {};
  const ChunkName name{written.rank, written.chunk};
  auto* chunk = open->find(name);
  if (chunk == nullptr || chunk->length != written.bytes || chunk->place != kNotWritten)
    return base::fail(PERDURE_INVALID_ARGUMENT, written.id.text(), "a chunk is not what was announced");
  *chunk = {written.slot, written.bytes, written.hash, written.tier};
  open->written.push_back(name);
  return {};
}

// The piece as it is by now: chunks that moved are where they went.
base::Result<segment::Piece> NodeState::placed(ClientId client, const ipc::Stage& stage) {
  segment::Piece piece = stage.piece;
  OpenCapture* open = capture(stage.id);
  if (open != nullptr && open->failure) return base::fail(*open->failure);
  const auto announced = open == nullptr ? decltype(open->pieces.begin()){} : open->pieces.find(piece.rank);
  const bool known = open != nullptr && announced != open->pieces.end();
  if (known && write_through(stage.id) &&
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
    const auto* held = slots_.granted({chunk.place, chunk.offset});
    const bool granted =
        held != nullptr && held->client == client && held->id == stage.id && chunk.length <= held->bytes;
    const bool same = written == nullptr || written->place == kNotWritten || *written == chunk;
    if (!granted || !same || !slots.emplace(chunk.place, chunk.offset).second)
      return base::fail(PERDURE_INVALID_ARGUMENT, stage.id.text(), "a chunk names a slot that was not granted for it");
  }
  return piece;
}

bool NodeState::write_through(const segment::VersionId& id) const {
  const Version* version = versions_.find(id);
  return version != nullptr && version->write_through();
}

// It is, or will be when its ranks have said what they write, should slots run out.
bool NodeState::may_be_flushed_early(const segment::VersionId& id) const {
  if (write_through(id)) return true;
  const OpenCapture* open = capture(id);
  return open != nullptr && options_.during_capture != DuringCapture::never && open->being_announced();
}

void NodeState::capture_fails(const segment::VersionId& id, const base::Error& error) {
  OpenCapture* open = capture(id);
  if (open == nullptr || open->failure) return;
  open->failure = error;
  (void)versions_.happens(id, VersionEvent::capture_fails);
}

std::optional<segment::VersionId> NodeState::next_write_through() {
  for (const auto& [id, version] : versions_)
    if (version.by == FlushedBy::chosen && versions_.happens(id, VersionEvent::thread_begins)) return id;
  return std::nullopt;
}

bool NodeState::any_write_through() const {
  return std::any_of(versions_.begin(), versions_.end(),
                     [](const auto& entry) { return entry.second.write_through(); });
}

// A segment with a damaged piece fails, and those after it would not be tried; one that lacks a piece cannot be begun.
catalog::HeldVersion NodeState::writable_first(catalog::HeldVersion held) {
  std::erase_if(held.segments, [&](const auto& segment) { return !segment.stored && !held.has_pieces(segment.ranks); });
  std::stable_partition(held.segments.begin(), held.segments.end(),
                        [&](const auto& segment) { return segment.stored || can_be_written(held, segment); });
  return held;
}

std::optional<catalog::HeldVersion> NodeState::begin_attempt(const segment::VersionId& id) {
  const auto* held = find(id);
  if (versions_.happens(id, VersionEvent::attempt)) versions_.at(id).bytes_flushed = 0;
  if (held != nullptr && held->committed) return writable_first(*held);
  const OpenCapture* open = capture(id);
  if (open == nullptr || open->failure) return std::nullopt;
  return catalog::HeldVersion{id, open->ranks, open->pieces, false, open->segments, {}};
}

CaptureNews NodeState::capture_news(const segment::VersionId& id, std::size_t& seen) const {
  CaptureNews news;
  const auto* held = find(id);
  const bool committed = held != nullptr && held->committed;
  const OpenCapture* open = capture(id);
  if (open == nullptr || open->failure) return news;
  news.state = committed ? CaptureNews::State::committed : CaptureNews::State::open;
  for (; seen < open->written.size(); ++seen) {
    news.written.push_back(open->written[seen]);
    news.chunks.push_back(open->pieces.at(open->written[seen].rank).chunks[open->written[seen].chunk]);
  }
  return news;
}

base::Status NodeState::note_begun(const segment::VersionId& id, const std::vector<catalog::LocalSegment>& segments) {
  const auto begun = catalog_.state().begun.find(id);
  if (begun != catalog_.state().begun.end() && begun->second == segments) return {};
  return catalog_.append(catalog::BegunRecord{id, segments});
}

void NodeState::write_through_over(const segment::VersionId& id, const std::optional<base::Error>& error) {
  Version* version = versions_.find(id);
  if (version == nullptr) return;
  (void)versions_.happens(id, VersionEvent::thread_ends);
  version->flushed.clear();
  if (error) capture_fails(id, *error);
  if (version->life >= Life::committed) version->capture.reset();
  versions_.tidy(id);
}

// Who died before it staged its piece has taken the whole version with it. Of who has not announced one only the rank
// is known, which may be that of another application: nobody counts on such a capture any more.
void NodeState::leave_captures(ClientId client, std::optional<std::uint32_t> rank) {
  std::vector<segment::VersionId> deserted;
  for (auto& [id, version] : versions_) {
    if (!version.capture) continue;
    OpenCapture& capture = *version.capture;
    if (rank && capture.has(*rank) && !capture.pieces.contains(*rank)) capture.deserted = true;
    const auto gone = std::erase_if(capture.clients, [client](const auto& entry) { return entry.second == client; });
    if (gone > 0)
      capture_fails(id, {PERDURE_PEER_FAILED, id.text(), "a rank of this node ended during the capture",
                         "see why it ended", true});
    if (gone > 0 && capture.clients.empty() && !version.held()) deserted.push_back(id);
  }
  for (const auto& id : deserted) capture_over(id);
}

// Nothing of it is in the catalog, or any more.
void NodeState::capture_over(const segment::VersionId& id) {
  if (const Version* version = versions_.find(id); version != nullptr && version->begun_s) counters_.capture_over();
  versions_.drop(id);
}

std::optional<catalog::BegunRecord> NodeState::next_leftover() const {
  for (const auto& [id, segments] : catalog_.state().begun) {
    const auto* held = find(id);
    const Version* version = versions_.find(id);
    const bool busy = version != nullptr && (version->by == FlushedBy::own_thread || version->capture);
    if (!busy && (held == nullptr || held->all_stored())) return catalog::BegunRecord{id, segments};
  }
  return std::nullopt;
}

bool NodeState::slots_wanted() const {
  return std::any_of(versions_.begin(), versions_.end(),
                     [](const auto& entry) { return entry.second.capture && !entry.second.capture->clients.empty(); });
}

}  // namespace perdure::engine
