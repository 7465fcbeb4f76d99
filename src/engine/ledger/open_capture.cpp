#include "engine/ledger/open_capture.hpp"

#include <algorithm>
#include <set>

namespace perdure::engine {
namespace {

std::vector<catalog::LocalSegment> local(const std::vector<ipc::PlannedSegment>& planned) {
  std::vector<catalog::LocalSegment> segments;
  for (const auto& segment : planned) segments.push_back({segment.index, segment.count, segment.ranks, false});
  return segments;
}

}  // namespace

bool OpenCapture::add(ClientId client, const ipc::Begin& begin) {
  const auto theirs = local(begin.segments);
  if (pieces.empty() && !contradicted) {
    ranks = begin.ranks;
    segments = theirs;
    std::set<std::uint32_t> all;
    for (const auto& segment : segments) all.insert(segment.ranks.begin(), segment.ranks.end());
    members = all.size();
  }
  const std::uint32_t rank = begin.piece.rank;
  if (contradicted || !has(rank) || begin.ranks != ranks || theirs != segments || pieces.contains(rank)) {
    if (!announced()) {  // a complete one may be on its way to the store
      contradicted = true;
      pieces.clear();
    }
    return false;
  }
  segment::Piece& piece = pieces[rank] = begin.piece;
  for (auto& chunk : piece.chunks) chunk = {0, chunk.length, {}, kNotWritten};
  clients[rank] = client;
  return true;
}

void OpenCapture::complete(const segment::Piece& piece) {
  for (std::uint32_t c = 0; c < piece.chunks.size(); ++c) {
    const ChunkName name{piece.rank, c};
    if (auto* chunk = find(name); chunk != nullptr && chunk->place == kNotWritten) {
      *chunk = piece.chunks[c];
      written.push_back(name);
    }
  }
  clients.erase(piece.rank);
}

bool OpenCapture::has(std::uint32_t rank) const {
  return std::any_of(segments.begin(), segments.end(), [rank](const catalog::LocalSegment& segment) {
    return std::find(segment.ranks.begin(), segment.ranks.end(), rank) != segment.ranks.end();
  });
}

bool OpenCapture::announced() const { return !contradicted && pieces.size() == members; }

std::uint64_t OpenCapture::bytes() const {
  std::uint64_t total = 0;
  for (const auto& [rank, piece] : pieces) total += piece.capture_bytes();
  return total;
}

segment::ChunkEntry* OpenCapture::find(const ChunkName& name) {
  const auto piece = pieces.find(name.rank);
  if (piece == pieces.end() || name.chunk >= piece->second.chunks.size()) return nullptr;
  return &piece->second.chunks[name.chunk];
}

bool flush_before_commit(DuringCapture mode, std::uint64_t bytes, std::uint64_t room_bytes) {
  switch (mode) {
    case DuringCapture::always:
      return true;
    case DuringCapture::never:
      return false;
    case DuringCapture::automatic:
      return bytes > room_bytes;
  }
  return false;
}

}  // namespace perdure::engine
