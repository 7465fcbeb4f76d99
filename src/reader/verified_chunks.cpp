#include "reader/verified_chunks.hpp"

#include <algorithm>
#include <cstring>

#include "os/descriptors.hpp"
#include "segment/stages.hpp"

namespace perdure::reader {
namespace {

constexpr std::uint64_t kBlock = 1 * base::MiB;
constexpr std::uint64_t kLongestChunk = 16 * base::GiB;  // segment::verify() has the same limit

}  // namespace

base::Status VerifiedChunks::read(const ChunkPlace& place, std::uint64_t from, base::ByteSpan target) {
  if (target.empty()) return {};
  Kept* found = kept(place);
  if (found == nullptr && large_.place != place) {
    auto outcome = load(place);
    if (!outcome && outcome.error().code == PERDURE_CORRUPT) {
      PERDURE_CHECK(open(*place.segment, true));
      outcome = load(place);
    }
    if (!outcome) return outcome;
    found = kept(place);
  }
  if (found == nullptr) return read_large(from, target);
  found->used = ++uses_;
  std::memcpy(target.data(), found->bytes.data() + from, target.size());
  return {};
}

VerifiedChunks::Kept* VerifiedChunks::kept(const ChunkPlace& place) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) { return one.place == place; });
  return found == kept_.end() ? nullptr : &*found;
}

base::Status VerifiedChunks::open(const store::SegmentRef& segment, bool anew) {
  if (const auto kept = open_.find(&segment); kept != open_.end() && !anew) {
    source_ = kept->second.get();
    return {};
  }
  if (other_ == &segment && !anew) {
    source_ = other_source_.get();
    return {};
  }
  other_ = nullptr;
  PERDURE_TRY(other_source_, anew ? store_->open_anew(segment) : store_->open(segment));
  other_ = &segment;
  source_ = other_source_.get();
  return {};
}

void VerifiedChunks::keep_open(const store::SegmentRef& segment, std::unique_ptr<segment::ByteSource> source) {
  const std::uint64_t most = std::min<std::uint64_t>(kMostOpen, os::descriptor_limit().now / 4);
  if (open_.size() < most) open_[&segment] = std::move(source);
}

base::Status VerifiedChunks::load(const ChunkPlace& place) {
  PERDURE_CHECK(open(*place.segment, false));
  const std::uint64_t offset = place.entry().offset, length = place.entry().stored_length();
  if (offset > source_->size() || length > source_->size() - offset)
    return base::fail(PERDURE_CORRUPT, source_->name(), "it became shorter since its manifest was read");
  const bool encoded = place.entry().encoding != segment::Encoding::none;  // decoded as a whole only
  return encoded || length <= most_bytes_ ? verify_whole(place) : verify_large(place);
}

/// Reuses memory if there is any: chunks have few lengths.
std::vector<std::byte> VerifiedChunks::room_for(std::uint64_t bytes) {
  std::uint64_t sum = bytes;
  for (const Kept& one : kept_) sum += one.bytes.size();
  std::vector<std::byte> freed;
  while (sum > most_bytes_ && !kept_.empty()) {
    const auto oldest =
        std::min_element(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
    sum -= oldest->bytes.size();
    freed = std::move(oldest->bytes);
    kept_.erase(oldest);
  }
  freed.resize(bytes);
  return freed;
}

base::Status VerifiedChunks::verify_whole(const ChunkPlace& place) {
  Kept one{place, room_for(place.entry().length), ++uses_};
  bytes_read_ += one.bytes.size();
  PERDURE_CHECK(segment::read_chunk(*source_, *place.piece, place.chunk, one.bytes));
  kept_.push_back(std::move(one));
  return {};
}

base::Status VerifiedChunks::verify_large(const ChunkPlace& place) {
  const std::uint64_t offset = place.entry().offset, length = place.entry().stored_length();
  const base::Hash128& hash = place.entry().stored_hash();
  large_ = {};
  KnownBlocks large;
  std::vector<std::byte> block(kBlock);
  base::Hasher hasher;
  for (std::uint64_t done = 0; done < length; done += kBlock) {
    const auto part = base::ByteSpan(block).first(std::min(kBlock, length - done));
    if (length > kLongestChunk && source_->zeros(offset + done) >= part.size())
      return base::fail(PERDURE_CORRUPT, source_->name(),
                        "nothing was ever written at offset " + std::to_string(offset + done));
    PERDURE_CHECK(source_->read(offset + done, part));
    hasher.update(part);
    large.hashes.push_back(base::hash128(part));
    bytes_read_ += part.size();
  }
  if (const auto found = hasher.digest(); found != hash)
    return base::fail(segment::chunk_damage(*place.piece, place.chunk, found, source_->name()));
  large.place = place;
  large_ = std::move(large);
  return {};
}

base::Status VerifiedChunks::read_large(std::uint64_t from, base::ByteSpan target) {
  const segment::ChunkEntry& entry = large_.place.entry();
  PERDURE_CHECK(open(*large_.place.segment, false));
  for (std::size_t done = 0; done < target.size();) {
    const std::uint64_t number = (from + done) / kBlock, begin = number * kBlock;
    if (large_.block.empty() || large_.block_number != number) {
      large_.block.resize(std::min(kBlock, entry.length - begin));
      large_.block_number = number;
      const auto read = source_->read(entry.offset + begin, large_.block);
      bytes_read_ += large_.block.size();
      if (!read || base::hash128(large_.block) != large_.hashes[number]) {
        large_ = {};
        if (!read) return read;
        return base::fail(PERDURE_CORRUPT, source_->name(), "it changes while it is read");
      }
    }
    const std::uint64_t skipped = from + done - begin;
    const std::size_t bytes = std::min<std::uint64_t>(large_.block.size() - skipped, target.size() - done);
    std::memcpy(target.data() + done, large_.block.data() + skipped, bytes);
    done += bytes;
  }
  return {};
}

base::Status VerifiedChunks::read_capture(const store::SegmentRef& segment, const segment::Piece& piece,
                                          std::uint64_t begin, base::ByteSpan target) {
  while (!target.empty()) {
    const std::uint64_t chunk = begin / piece.chunk_bytes, from = begin % piece.chunk_bytes;
    const auto part = target.first(std::min<std::uint64_t>(target.size(), piece.chunk_bytes - from));
    PERDURE_CHECK(read({&segment, &piece, static_cast<std::size_t>(chunk)}, from, part));
    begin += part.size();
    target = target.subspan(part.size());
  }
  return {};
}

}  // namespace perdure::reader
