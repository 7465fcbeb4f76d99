// Reads every byte of a segment and reports everything that is wrong with it.
#include <algorithm>

#include "base/hash.hpp"
#include "segment/chunk_ranges.hpp"
#include "segment/stages.hpp"

namespace perdure::segment {
namespace {

using Progress = std::function<void(std::uint64_t)>;

class Verifier {
 public:
  Verifier(const ByteSource& source, const Progress& progress) : source_(source), progress_(progress) {}
  std::vector<Defect> run();

 private:
  /// The three parts that say what the rest is. False when the file cannot be judged any further.
  bool check_frame();
  void check_data();
  void check_chunk(const ChunkPosition& chunk);
  void check_zero(std::uint64_t begin, std::uint64_t end, std::int64_t rank);
  /// Whose data a damaged frame hits: known from the header, or from the manifest.
  void name_ranks();
  void add(std::uint64_t offset, base::Error error) { defects_.push_back({offset, -1, -1, std::move(error)}); }
  void advance(std::uint64_t bytes) const {
    if (progress_) progress_(bytes);
  }
  /// Calls `use(offset, block)` for [begin, end) in blocks of the buffer; false after an error, which is reported for
  /// `rank`.
  template <class Use>
  bool for_blocks(std::uint64_t begin, std::uint64_t end, std::int64_t rank, const Use& use);

  const ByteSource& source_;
  const Progress& progress_;
  std::vector<std::byte> buffer_;
  std::vector<Defect> defects_;
  std::uint32_t first_rank_ = kNoRank;
  std::uint32_t last_rank_ = kNoRank;
  Trailer trailer_;
  Manifest manifest_;
};

template <class Use>
bool Verifier::for_blocks(std::uint64_t begin, std::uint64_t end, std::int64_t rank, const Use& use) {
  for (std::uint64_t offset = begin; offset < end;) {
    buffer_.resize(std::min<std::uint64_t>(4 * base::MiB, source_.size()));
    base::ByteSpan block = base::ByteSpan(buffer_).first(std::min<std::uint64_t>(buffer_.size(), end - offset));
    if (auto read = source_.read(offset, block); !read) {
      defects_.push_back({offset, rank, -1, std::move(read).error()});
      return false;
    }
    advance(block.size());
    if (!use(offset, block)) return true;
    offset += block.size();
  }
  return true;
}

bool Verifier::check_frame() {
  const std::uint64_t size = source_.size();
  if (auto good = check_size(size, source_.name()); !good) return add(0, good.error()), false;
  auto block = read_header(source_);
  if (!block) return add(0, block.error()), false;
  advance(kHeaderBytes);
  auto header = decode_header(*block, source_.name());
  if (header) {
    first_rank_ = header->first_rank;
    last_rank_ = header->last_rank;
  } else {
    add(0, header.error());
    if (header.error().code == PERDURE_UNSUPPORTED) return false;
  }
  auto trailer = read_trailer(source_);
  if (!trailer) return add(size - kTrailerBytes, trailer.error()), false;
  auto manifest = read_table(source_, *trailer);
  if (!manifest) return add(trailer->manifest_offset, manifest.error()), false;
  advance(trailer->manifest_length + kTrailerBytes);
  if (!header && !manifest->pieces.empty()) {
    first_rank_ = manifest->pieces.front().rank;
    last_rank_ = manifest->pieces.back().rank;
  }
  if (auto agree = check_header(*block, *manifest, source_.name()); header && !agree) add(0, agree.error());
  trailer_ = *trailer;
  manifest_ = std::move(*manifest);
  return true;
}

void Verifier::check_data() {
  std::uint64_t end = kHeaderBytes;
  std::int64_t rank = -1;
  for (const ChunkPosition& chunk : chunks_by_offset(manifest_)) {
    check_zero(end, chunk.offset, rank);
    check_chunk(chunk);
    end = chunk.offset + chunk.length;
    rank = chunk.piece->rank;
  }
  check_zero(end, trailer_.manifest_offset, rank);
  check_zero(trailer_.manifest_offset + trailer_.manifest_length, trailer_.file_bytes - kTrailerBytes, -1);
}

void Verifier::check_chunk(const ChunkPosition& chunk) {
  base::Hasher hasher;
  const std::int64_t rank = chunk.piece->rank;
  const auto index = static_cast<std::int64_t>(chunk.index);
  const bool read = for_blocks(chunk.offset, chunk.offset + chunk.length, rank,
                               [&](std::uint64_t, base::ByteSpan block) { return hasher.update(block), true; });
  if (!read) {
    defects_.back().chunk = index;
  } else if (const base::Hash128 found = hasher.digest(); found != chunk.piece->chunks[chunk.index].hash) {
    defects_.push_back({chunk.offset, rank, index, chunk_damage(*chunk.piece, chunk.index, found, source_.name())});
  }
}

void Verifier::check_zero(std::uint64_t begin, std::uint64_t end, std::int64_t rank) {
  for_blocks(begin, end, rank, [&](std::uint64_t offset, base::ByteSpan block) {
    auto bad = std::find_if(block.begin(), block.end(), [](std::byte b) { return b != std::byte{0}; });
    if (bad == block.end()) return true;
    offset += static_cast<std::uint64_t>(bad - block.begin());
    const std::string cause = "byte at offset " + std::to_string(offset) + " should be zero: padding damaged" +
                              (rank < 0 ? std::string() : ", behind a chunk of rank " + std::to_string(rank));
    defects_.push_back({offset, rank, -1, {PERDURE_CORRUPT, source_.name(), cause, "", false}});
    return false;
  });
}

void Verifier::name_ranks() {
  if (first_rank_ == kNoRank) return;
  for (Defect& defect : defects_) {
    if (defect.rank >= 0) continue;
    if (first_rank_ == last_rank_) {
      defect.rank = first_rank_;
      defect.error.cause += "; it holds rank " + std::to_string(first_rank_);
    } else {
      defect.error.cause += "; it holds ranks " + std::to_string(first_rank_) + " to " + std::to_string(last_rank_);
    }
  }
}

std::vector<Defect> Verifier::run() {
  if (check_frame()) check_data();
  name_ranks();
  return std::move(defects_);
}

}  // namespace

std::vector<Defect> verify(const ByteSource& source, const std::function<void(std::uint64_t)>& progress) {
  return Verifier(source, progress).run();
}

}  // namespace perdure::segment
