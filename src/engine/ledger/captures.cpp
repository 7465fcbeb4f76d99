#include "engine/ledger/captures.hpp"

#include <algorithm>
#include <set>

namespace perdure::engine {

bool Captures::announce(ClientId client, const ipc::Begin& begin) {
  (void)node_.versions.happens(begin.id, VersionEvent::announce);
  Version& version = node_.versions.at(begin.id);
  if (!version.begun_s) {
    node_.counters.capture_begins();
    version.begun_s = node_.now_s();
  }
  if (!version.capture) version.capture.emplace();
  OpenCapture& capture = *version.capture;
  const bool before = capture.contradicted;
  if (!capture.add(client, begin)) {
    if (!before)
      node_.reports.add(
          begin.id.text() + ": rank " + std::to_string(begin.piece.rank) +
          " announced a capture that contradicts what others said; it is flushed after the checkpoint only");
    return false;
  }
  return capture.announced();
}

void Captures::choose_write_through(const segment::VersionId& id) {
  if (!find(id)->failure) (void)node_.versions.happens(id, VersionEvent::choose);
}

OpenCapture* Captures::find(const segment::VersionId& id) {
  Version* version = node_.versions.find(id);
  return version != nullptr && version->capture ? &*version->capture : nullptr;
}

const OpenCapture* Captures::find(const segment::VersionId& id) const { return const_cast<Captures*>(this)->find(id); }

// A hash that is reported twice must be the same, since a flush may have relied on the first one.
base::Status Captures::note_written(const ipc::Written& written) {
  OpenCapture* open = find(written.id);
  if (open == nullptr || open->contradicted) return {};
  const ChunkName name{written.rank, written.chunk};
  auto* chunk = open->find(name);
  if (chunk == nullptr || chunk->length != written.bytes || chunk->place != kNotWritten)
    return base::fail(PERDURE_INVALID_ARGUMENT, written.id.text(), "a chunk is not what was announced");
  *chunk = {written.slot, written.bytes, written.hash, written.tier};
  open->written.push_back(name);
  return {};
}

// Chunks that were spilled are in the temporary segment by now.
base::Result<segment::Piece> Captures::placed(ClientId client, const ipc::Stage& stage) {
  segment::Piece piece = stage.piece;
  OpenCapture* open = find(stage.id);
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
    const auto* held = node_.slots.granted({chunk.place, chunk.offset});
    const bool granted =
        held != nullptr && held->client == client && held->id == stage.id && chunk.length <= held->bytes;
    const bool same = written == nullptr || written->place == kNotWritten || *written == chunk;
    if (!granted || !same || !slots.emplace(chunk.place, chunk.offset).second)
      return base::fail(PERDURE_INVALID_ARGUMENT, stage.id.text(), "a chunk names a slot that was not granted for it");
  }
  return piece;
}

bool Captures::write_through(const segment::VersionId& id) const {
  const Version* version = node_.versions.find(id);
  return version != nullptr && version->write_through();
}

bool Captures::may_be_written_through(const segment::VersionId& id) const {
  if (write_through(id)) return true;
  const OpenCapture* open = find(id);
  return open != nullptr && node_.options.during_capture != DuringCapture::never && open->being_announced();
}

void Captures::fail(const segment::VersionId& id, const base::Error& error) {
  OpenCapture* open = find(id);
  if (open == nullptr || open->failure) return;
  open->failure = error;
  (void)node_.versions.happens(id, VersionEvent::capture_fails);
}

std::optional<segment::VersionId> Captures::next_write_through() {
  for (const auto& [id, version] : node_.versions)
    if (version.by == FlushedBy::chosen && node_.versions.happens(id, VersionEvent::own_flush_begins)) return id;
  return std::nullopt;
}

bool Captures::any_write_through() const {
  return std::any_of(node_.versions.begin(), node_.versions.end(),
                     [](const auto& entry) { return entry.second.write_through(); });
}

CaptureNews Captures::news(const segment::VersionId& id, std::size_t& seen) const {
  CaptureNews news;
  const auto* held = node_.held(id);
  const bool committed = held != nullptr && held->committed;
  const OpenCapture* open = find(id);
  if (open == nullptr || open->failure) return news;
  news.state = committed ? CaptureNews::State::committed : CaptureNews::State::open;
  for (; seen < open->written.size(); ++seen) {
    news.written.push_back(open->written[seen]);
    news.chunks.push_back(open->pieces.at(open->written[seen].rank).chunks[open->written[seen].chunk]);
  }
  return news;
}

void Captures::write_through_over(const segment::VersionId& id, const std::optional<base::Error>& error) {
  Version* version = node_.versions.find(id);
  if (version == nullptr) return;
  (void)node_.versions.happens(id, VersionEvent::own_flush_ends);
  version->flushed.clear();
  if (error) fail(id, *error);
  if (version->life >= Life::committed) version->capture.reset();
  node_.versions.tidy(id);
}

// A rank that died before it staged its piece makes the whole version fail. If it had not announced one, only its rank
// is known, which may be that of another application. Such a capture is deserted: its slots no longer count as coming.
// Allocations come before the client is removed, so that a call that ran out of memory can be repeated.
void Captures::leave(ClientId client, std::optional<std::uint32_t> rank) {
  const auto is_his = [client](const auto& entry) { return entry.second == client; };
  std::vector<segment::VersionId> deserted;
  for (auto& [id, version] : node_.versions) {
    if (!version.capture) continue;
    OpenCapture& capture = *version.capture;
    if (rank && capture.has(*rank) && !capture.pieces.contains(*rank)) capture.deserted = true;
    if (std::none_of(capture.clients.begin(), capture.clients.end(), is_his)) continue;
    fail(id,
         {PERDURE_PEER_FAILED, id.text(), "a rank of this node ended during the capture", "see why it ended", true});
    const bool alone = std::all_of(capture.clients.begin(), capture.clients.end(), is_his);
    if (alone && !version.held()) deserted.push_back(id);
  }
  for (const auto& id : deserted) over(id);
  for (auto& [id, version] : node_.versions)
    if (version.capture) std::erase_if(version.capture->clients, is_his);
}

void Captures::over(const segment::VersionId& id) {
  if (const Version* version = node_.versions.find(id); version != nullptr && version->begun_s)
    node_.counters.capture_over();
  node_.versions.drop(id);
}

bool Captures::slots_wanted() const {
  return std::any_of(node_.versions.begin(), node_.versions.end(),
                     [](const auto& entry) { return entry.second.capture && !entry.second.capture->clients.empty(); });
}

std::uint64_t Captures::chunks_to_come() const {
  std::uint64_t chunks = 0;
  for (const auto& [id, version] : node_.versions) {
    if (!version.capture) continue;
    std::uint64_t unwritten = 0;
    for (const auto& [rank, piece] : version.capture->pieces)
      for (const auto& chunk : piece.chunks) unwritten += chunk.place == kNotWritten ? 1 : 0;
    chunks += unwritten - std::min(unwritten, version.slots_granted());
  }
  return chunks;
}

const OpenCapture* Captures::to_replicate(const segment::VersionId& id) const {
  const OpenCapture* open = find(id);
  if (open == nullptr || write_through(id)) return nullptr;
  return open->announced() && !open->contradicted && !open->failure ? open : nullptr;
}

}  // namespace perdure::engine
