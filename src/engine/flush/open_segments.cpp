#include "engine/flush/open_segments.hpp"

#include "base/version.hpp"
#include "segment/segment.hpp"

namespace perdure::engine {

OpenSegments::OpenSegments(const catalog::HeldVersion& version, const std::vector<catalog::LocalSegment>& segments) {
  for (const auto& local : segments) {
    Open segment{
        {version.id, version.ranks, local.index, local.count, std::string("perdure ") + base::kVersion, {}}, 0, false};
    for (std::uint32_t rank : local.ranks) segment.manifest.pieces.push_back(version.pieces.at(rank));
    segment.tail_offset = segment::lay_out(segment.manifest);
    for (auto& piece : segment.manifest.pieces) {
      const auto& held = version.pieces.at(piece.rank).chunks;
      for (std::uint32_t c = 0; c < held.size(); ++c) {
        piece.chunks[c].place = 0;
        items_.push_back({open_.size(), piece.rank, c, piece.chunks[c].offset, held[c]});
        segment.resumed |= held[c].place == catalog::kInTemporarySegment;
      }
    }
    open_.push_back(std::move(segment));
  }
}

base::Status OpenSegments::open(store::Store& store) {
  for (Open& segment : open_) PERDURE_CHECK(open_one(store, segment));
  return {};
}

// The size does not depend on hashes, which may be unknown at this time.
base::Status OpenSegments::open_one(store::Store& store, Open& segment) {
  PERDURE_CHECK(segment::check_describable(segment.manifest, segment.manifest.id.text()));
  const std::uint64_t bytes = segment.tail_offset + segment::tail_bytes(segment.manifest, segment.tail_offset);
  auto sink = segment.resumed ? store.resume(segment.manifest, bytes) : store.begin(segment.manifest, bytes);
  if (!sink && segment.resumed && sink.error().code == PERDURE_NOT_FOUND && !sink.error().retryable)
    return base::fail(
        PERDURE_CORRUPT, segment.manifest.id.text(),
        "a part of it was in a temporary segment at the store only, and that is gone: " + sink.error().text(),
        "give the tiers room for a whole checkpoint");
  if (!sink) return base::fail(sink.error());
  segment.sink = std::move(*sink);
  return segment.sink->write(0, segment::encode_header(segment.manifest));
}

void OpenSegments::fill_in(Open& segment, std::size_t number) const {
  std::map<std::uint32_t, segment::Piece*> pieces;
  for (auto& piece : segment.manifest.pieces) pieces[piece.rank] = &piece;
  for (const FlushItem& item : items_)
    if (item.segment == number) pieces.at(item.rank)->chunks[item.chunk].hash = item.source.hash;
}

base::Status OpenSegments::publish(std::uint64_t& bytes, const std::function<base::Status(std::uint32_t)>& stored) {
  for (std::size_t i = 0; i < open_.size(); ++i) {
    Open& segment = open_[i];
    fill_in(segment, i);
    PERDURE_CHECK(segment::write_tail(
        segment.manifest, segment.tail_offset,
        [&](std::uint64_t offset, base::ConstByteSpan data) { return segment.sink->write(offset, data); }));
    PERDURE_CHECK(segment.sink->commit());
    bytes += segment.tail_offset + segment::tail_bytes(segment.manifest, segment.tail_offset);
    PERDURE_CHECK(stored(segment.manifest.segment_index));
  }
  return {};
}

void OpenSegments::keep(bool kept) {
  for (Open& segment : open_)
    if (segment.sink) segment.sink->keep(kept);
}

}  // namespace perdure::engine
