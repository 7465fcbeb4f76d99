#include "engine/open_capture.hpp"

#include <algorithm>

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
  if (pieces.empty()) {
    ranks = begin.ranks;
    segments = theirs;
  }
  const std::uint32_t rank = begin.piece.rank;
  const bool member = std::any_of(segments.begin(), segments.end(), [rank](const catalog::LocalSegment& segment) {
    return std::find(segment.ranks.begin(), segment.ranks.end(), rank) != segment.ranks.end();
  });
  if (!member || begin.ranks != ranks || theirs != segments || pieces.contains(rank)) return false;
  segment::Piece& piece = pieces[rank] = begin.piece;
  for (auto& chunk : piece.chunks) chunk = {0, chunk.length, {}, kNotWritten};
  clients[rank] = client;
  all_announced = std::all_of(segments.begin(), segments.end(), [this](const catalog::LocalSegment& segment) {
    return std::all_of(segment.ranks.begin(), segment.ranks.end(),
                       [this](std::uint32_t other) { return pieces.contains(other); });
  });
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
