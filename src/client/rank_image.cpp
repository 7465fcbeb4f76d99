#include "client/rank_image.hpp"

#include <algorithm>

#include "base/scatter.hpp"
#include "client/slot_reading.hpp"
#include "segment/reader.hpp"

namespace perdure::client {
namespace {

std::string chunk_name(const segment::Piece& piece, std::size_t chunk) {
  return "rank " + std::to_string(piece.rank) + " chunk " + std::to_string(chunk);
}

}  // namespace

base::Result<RankImage> RankImage::locate(Job& job, const segment::VersionId& id, std::uint32_t rank, bool on_this_node,
                                          const StoredSegment* stored) {
  RankImage image(job, id, stored);
  base::Status found =
      base::fail(PERDURE_NOT_FOUND, id.text(),
                 "the data of rank " + std::to_string(rank) + " is neither on this node nor in the store");
  if (on_this_node) found = image.locate_in_slots(rank);
  // The engine may have evicted it meanwhile, because the store has it, perhaps only since the last look. Or the piece
  // has more slots than a message can name.
  const bool gone = !found && found.error().code == PERDURE_NOT_FOUND;
  const bool elsewhere = gone || (!found && found.error().code == PERDURE_NO_SPACE);
  if (gone && stored == nullptr && on_this_node) PERDURE_CHECK(image.look_in_store(rank));
  if (elsewhere && image.stored_) found = image.locate_in_store(rank);
  PERDURE_CHECK(found);
  image.piece_.chunk_bytes = std::max<std::uint64_t>(image.piece_.chunk_bytes, 1);
  if (image.ranges().size() != image.piece_.chunks.size())
    return base::fail(PERDURE_CORRUPT, id.text(), "its chunks do not cover its regions");
  return image;
}

base::Status RankImage::locate_in_slots(std::uint32_t rank) {
  PERDURE_TRY(auto located, job_->engine().channel().call(ipc::Locate{id_, rank}));
  piece_ = std::move(located.piece);
  for (const auto& slot : located.slots) slots_.push_back(slot_of(slot));
  temporary_ = std::move(located.temporary);
  if (piece_.rank != rank || slots_.size() != piece_.chunks.size())
    return base::fail(PERDURE_CORRUPT, "engine", "slots and chunks differ in number");
  bad_.assign(slots_.size(), false);
  return {};
}

base::Status RankImage::locate_in_store(std::uint32_t rank) {
  PERDURE_TRY(bytes_, job_->store().open(stored_->ref));
  auto manifest = segment::read_rank(*bytes_, rank);
  if (!manifest && manifest.error().code == PERDURE_CORRUPT) {
    PERDURE_TRY(bytes_, job_->store().open_anew(stored_->ref));
    manifest = segment::read_rank(*bytes_, rank);
  }
  if (!manifest) return base::fail(manifest.error());
  for (const auto& piece : manifest->pieces)
    if (piece.rank == rank) piece_ = stored_piece_ = piece;
  if (piece_.chunk_bytes == 0 || manifest->id != id_)
    return base::fail(PERDURE_CORRUPT, bytes_->name(), "it does not hold rank " + std::to_string(rank));
  close_store();  // callers that ask about many ranks read few of them
  return {};
}

// Looks in the store again, as rank 0's look for all is older.
base::Status RankImage::look_in_store(std::uint32_t rank) {
  PERDURE_TRY(const auto listings, job_->store().list(id_.name));
  for (const auto& listing : listings) {
    if (listing.id != id_) continue;
    for (const auto& ref : listing.segments) {
      PERDURE_TRY(const auto source, job_->store().open(ref));
      PERDURE_TRY(auto read, read_segment(*source, id_, ref));
      if (!read.segment.ranks.contains(rank)) continue;
      stored_ = std::move(read.segment);
      return {};
    }
  }
  return base::fail(PERDURE_NOT_FOUND, id_.text(), "the store does not have rank " + std::to_string(rank));
}

// Whatever the temporary segment contains, the hash tells whether it is this chunk. The flush verifies that copy
// itself, so nothing is set aside here.
base::Status RankImage::read_from_temporary(std::size_t chunk, const std::vector<capture::MemorySpan>& spans) {
  base::Status outcome =
      base::fail(PERDURE_NOT_FOUND, id_.text(), chunk_name(piece_, chunk) + " is in no temporary segment any more");
  if (!temporary_) return outcome;
  PERDURE_TRY(const auto begun, job_->store().unpublished(id_, temporary_->index, temporary_->count));
  for (const auto& source : begun) {
    outcome = read_from(*source, piece_.chunks[chunk].offset, chunk, spans);
    if (outcome) break;
  }
  return outcome;
}

base::Status RankImage::read_here(std::size_t chunk, const std::vector<capture::MemorySpan>& spans) {
  if (!slots_[chunk].path.empty()) return read_from_slot(chunk, spans);
  base::Status outcome = read_from_temporary(chunk, spans);
  // It was published meanwhile: then it is read from there.
  if (!outcome && outcome.error().code == PERDURE_NOT_FOUND && !stored_) PERDURE_CHECK(look_in_store(piece_.rank));
  return outcome;
}

// A chunk that is not there, or has another content, is lost. A failing device, or refused memory, says nothing about
// the chunk.
void RankImage::note_bad(std::size_t chunk, const base::Error& why) {
  bad_[chunk] = true;
  if (slots_[chunk].path.empty()) return;
  if (why.code == PERDURE_CORRUPT || why.code == PERDURE_NOT_FOUND) set_aside(chunk, why);
  if (why.code == PERDURE_IO) unread_[chunk] = why;
}

base::Status RankImage::read_chunk(std::size_t chunk, const std::vector<capture::MemorySpan>& spans) {
  base::Status outcome = base::fail(PERDURE_NOT_FOUND, id_.text(), "no source has chunk " + std::to_string(chunk));
  if (!slots_.empty() && !bad_[chunk]) {
    const bool in_slot = !slots_[chunk].path.empty();
    outcome = read_here(chunk, spans);
    if (outcome) {
      (in_slot ? read_.slots : read_.store) += piece_.chunks[chunk].length;
      return outcome;
    }
    note_bad(chunk, outcome.error());
  }
  if (!stored_) return outcome;
  base::Status stored = read_from_store(chunk, spans);
  if (stored) read_.store += piece_.chunks[chunk].length;
  if (!stored && stored.error().code == PERDURE_CORRUPT)
    suspect_ = Suspect{id_, stored_->ref, stored.error(), piece_.rank, static_cast<std::uint32_t>(chunk)};
  // A slot that could not be read may be good, whatever the store's copy is.
  return !stored && unread_.contains(chunk) ? outcome : stored;
}

void RankImage::set_aside(std::size_t chunk, const base::Error& why) {
  if (!job_->engine().connected()) return;
  (void)job_->engine().channel().call(ipc::Quarantine{id_, piece_.rank, static_cast<std::uint32_t>(chunk), why.cause});
}

void RankImage::set_aside_unread() {
  base::attempt([this] {
    for (const auto& [chunk, why] : unread_) set_aside(chunk, why);
    unread_.clear();
  });
}

base::Status RankImage::read_from_slot(std::size_t chunk, const std::vector<capture::MemorySpan>& spans) {
  const auto& entry = piece_.chunks[chunk];
  return read_slot(job_->engine().slots(), slots_[chunk], entry.length, entry.hash, spans, id_.text(),
                   chunk_name(piece_, chunk));
}

// Damaged data is read again past this machine's page cache.
base::Status RankImage::read_from_store(std::size_t chunk, const std::vector<capture::MemorySpan>& spans) {
  const base::Status outcome = verify_from_store(chunk, spans);
  if (outcome || outcome.error().code != PERDURE_CORRUPT) return outcome;
  PERDURE_TRY(bytes_, job_->store().open_anew(stored_->ref));
  stored_piece_ = {};
  return verify_from_store(chunk, spans);
}

base::Status RankImage::verify_from_store(std::size_t chunk, const std::vector<capture::MemorySpan>& spans) {
  if (!bytes_) {
    PERDURE_TRY(bytes_, job_->store().open(stored_->ref));
  }
  if (stored_piece_.chunks.empty()) {
    PERDURE_TRY(const auto manifest, segment::read_rank(*bytes_, piece_.rank));
    for (const auto& piece : manifest.pieces)
      if (piece.rank == piece_.rank) stored_piece_ = piece;
  }
  const auto& stored = stored_piece_.chunks;
  const auto& expected = piece_.chunks[chunk];
  if (chunk >= stored.size() || stored[chunk].hash != expected.hash || stored[chunk].length != expected.length)
    return base::fail(PERDURE_CORRUPT, bytes_->name(),
                      "it has another chunk " + std::to_string(chunk) + " of rank " + std::to_string(piece_.rank));
  return read_from(*bytes_, stored[chunk].offset, chunk, spans);
}

base::Status RankImage::read_from(const segment::ByteSource& source, std::uint64_t begin, std::size_t chunk,
                                  const std::vector<capture::MemorySpan>& spans) const {
  base::Hasher hasher;
  const auto stream = source.stream(begin, piece_.chunks[chunk].length);
  PERDURE_CHECK(
      base::scatter_blocks(spans, [&](std::uint64_t, base::ByteSpan target) { return stream->read(target, hasher); }));
  if (hasher.digest() == piece_.chunks[chunk].hash) return {};
  return base::fail(PERDURE_CORRUPT, source.name(),
                    chunk_name(piece_, chunk) + " at offset " + std::to_string(begin) + " does not match its hash");
}

}  // namespace perdure::client
