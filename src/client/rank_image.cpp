#include "client/rank_image.hpp"

#include <algorithm>

#include "client/slot_codec.hpp"
#include "segment/reader.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kBlock = 1 * base::MiB;

// Calls read(offset, target) for every block of the spans; bytes that nobody wants go through `scratch`.
template <class Read>
base::Status for_each_block(const std::vector<capture::MemorySpan>& spans, std::vector<std::byte>& scratch, Read read) {
  std::uint64_t offset = 0;
  for (const auto& span : spans) {
    const std::uint64_t step = span.address == nullptr ? kBlock : std::max<std::uint64_t>(span.length, 1);
    for (std::uint64_t done = 0; done < span.length; done += step) {
      const std::uint64_t bytes = std::min(step, span.length - done);
      if (span.address == nullptr) scratch.resize(kBlock);
      std::byte* target = span.address == nullptr ? scratch.data() : span.address + done;
      PERDURE_CHECK(read(offset + done, base::ByteSpan(target, bytes)));
    }
    offset += span.length;
  }
  return {};
}

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
  // The engine may have made room for others meanwhile, because the store has it; or it has more slots than a message
  // can name.
  const bool elsewhere = !found && (found.error().code == PERDURE_NOT_FOUND || found.error().code == PERDURE_NO_SPACE);
  if (elsewhere && stored != nullptr) found = image.locate_in_store(rank);
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
  if (piece_.rank != rank || slots_.size() != piece_.chunks.size())
    return base::fail(PERDURE_CORRUPT, "engine", "slots and chunks differ in number");
  bad_.assign(slots_.size(), false);
  return {};
}

base::Status RankImage::locate_in_store(std::uint32_t rank) {
  PERDURE_TRY(bytes_, job_->store().open(stored_->ref));
  auto manifest = segment::read_manifest(*bytes_);
  if (!manifest && manifest.error().code == PERDURE_CORRUPT) {
    PERDURE_TRY(bytes_, job_->store().open_anew(stored_->ref));
    manifest = segment::read_manifest(*bytes_);
  }
  if (!manifest) return base::fail(manifest.error());
  for (const auto& piece : manifest->pieces)
    if (piece.rank == rank) piece_ = stored_piece_ = piece;
  if (piece_.chunk_bytes == 0 || manifest->id != id_)
    return base::fail(PERDURE_CORRUPT, bytes_->name(), "it does not hold rank " + std::to_string(rank));
  return {};
}

base::Status RankImage::read_chunk(std::size_t chunk, const std::vector<capture::MemorySpan>& spans) {
  base::Status outcome = base::fail(PERDURE_NOT_FOUND, id_.text(), "no source has chunk " + std::to_string(chunk));
  if (!slots_.empty() && !bad_[chunk]) {
    outcome = read_from_slot(chunk, spans);
    if (outcome) {
      read_.slots += piece_.chunks[chunk].length;
      return outcome;
    }
    bad_[chunk] = true;
    if (job_->engine().connected())
      (void)job_->engine().channel().call(
          ipc::Quarantine{id_, piece_.rank, static_cast<std::uint32_t>(chunk), outcome.error().cause});
  }
  if (!stored_) return outcome;
  outcome = read_from_store(chunk, spans);
  if (outcome)
    read_.store += piece_.chunks[chunk].length;
  else if (outcome.error().code == PERDURE_CORRUPT)
    suspect_ = Suspect{id_, stored_->ref, outcome.error(), piece_.rank, static_cast<std::uint32_t>(chunk)};
  return outcome;
}

base::Status RankImage::read_from_slot(std::size_t chunk, const std::vector<capture::MemorySpan>& spans) {
  base::Hasher hasher;
  std::vector<std::byte> scratch;
  tier::SlotIo& io = job_->engine().slots();
  const auto& slot = slots_[chunk];
  // Maps the slot's pages in one call instead of one fault each.
  PERDURE_CHECK(io.prepare(slot, piece_.chunks[chunk].length));
  PERDURE_CHECK(for_each_block(spans, scratch, [&](std::uint64_t offset, base::ByteSpan target) {
    return io.read(slot, offset, target, hasher);
  }));
  if (hasher.digest() == piece_.chunks[chunk].hash) return {};
  return base::fail(PERDURE_CORRUPT, id_.text(),
                    chunk_name(piece_, chunk) + " does not match its hash in " + slot.path + " at offset " +
                        std::to_string(slot.offset));
}

// What is damaged is read again past this machine's memory of it.
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
    PERDURE_TRY(const auto manifest, segment::read_manifest(*bytes_));
    for (const auto& piece : manifest.pieces)
      if (piece.rank == piece_.rank) stored_piece_ = piece;
  }
  const auto& stored = stored_piece_.chunks;
  const auto& expected = piece_.chunks[chunk];
  if (chunk >= stored.size() || stored[chunk].hash != expected.hash || stored[chunk].length != expected.length)
    return base::fail(PERDURE_CORRUPT, bytes_->name(),
                      "it has another chunk " + std::to_string(chunk) + " of rank " + std::to_string(piece_.rank));
  base::Hasher hasher;
  std::vector<std::byte> scratch;
  const std::uint64_t begin = stored[chunk].offset;
  const auto read = [&](std::uint64_t offset, base::ByteSpan target) -> base::Status {
    for (std::uint64_t done = 0; done < target.size(); done += kBlock) {
      const auto block = target.subspan(done, std::min<std::uint64_t>(kBlock, target.size() - done));
      PERDURE_CHECK(bytes_->read(begin + offset + done, block));
      hasher.update(block);
    }
    return {};
  };
  PERDURE_CHECK(for_each_block(spans, scratch, read));
  if (hasher.digest() == expected.hash) return {};
  return base::fail(PERDURE_CORRUPT, bytes_->name(),
                    chunk_name(piece_, chunk) + " at offset " + std::to_string(begin) + " does not match its hash");
}

}  // namespace perdure::client
