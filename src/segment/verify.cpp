// Reads every byte of a segment and reports all its defects.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/hash.hpp"
#include "segment/chunk_ranges.hpp"
#include "segment/stages.hpp"

namespace perdure::segment {
namespace {

using Progress = std::function<void(std::uint64_t)>;

constexpr std::uint64_t kVerifiedAtOnce = 4 * base::MiB;
constexpr std::uint64_t kLongestChunk = 16 * base::GiB;  // the longest that chunk_bytes permits
constexpr std::uint64_t kMostReadAgain = 256 * base::MiB;

/// Knows which bytes of a file are accounted for, as runs that do not touch each other.
class TakenRanges {
 public:
  struct Run {
    std::uint64_t end = 0;
    std::int64_t rank = -1;  ///< of its last part
  };
  /// Returns false, and adds nothing, if a part has some of these bytes already.
  bool add(std::uint64_t begin, std::uint64_t end, std::int64_t rank) {
    const auto after = runs_.lower_bound(begin);
    const auto before = after == runs_.begin() ? runs_.end() : std::prev(after);
    if (after != runs_.end() && after->first < end) return false;
    if (before != runs_.end() && before->second.end > begin) return false;
    Run joined{end, rank};
    if (after != runs_.end() && after->first == end) {
      joined = after->second;
      runs_.erase(after);
    }
    const bool touches = before != runs_.end() && before->second.end == begin;
    runs_[touches ? before->first : begin] = joined;
    return true;
  }
  const std::map<std::uint64_t, Run>& runs() const { return runs_; }

 private:
  std::map<std::uint64_t, Run> runs_;  ///< by their begin
};

class Verifier {
 public:
  Verifier(const ByteSource& source, const Progress& progress) : source_(source), progress_(progress) {}
  std::vector<Defect> run();

 private:
  /// Checks header, trailer and manifest. Returns false if the file cannot be judged any further.
  bool check_frame();
  void check_data();
  /// Reads the table and checks the chunks of its rank. Returns false if their places are unknown.
  bool check_rank(const Table& table);
  void check_chunks(const Piece& piece);
  /// Checks the zeros behind a part, and records that it covers its bytes.
  void cover(const Position& part);
  void check_chunk(const Position& chunk);
  /// Returns nothing after an error, which is reported.
  std::optional<base::Hash128> hash_of(const Position& chunk);
  base::Hash128 hash_of_hole(std::uint64_t bytes);
  void check_zero(std::uint64_t begin, std::uint64_t end, std::int64_t rank);
  bool check_written_zero(std::uint64_t begin, std::uint64_t end, std::int64_t rank);
  /// Names the ranks whose data a damaged frame hits: known from the header, or from the manifest.
  void name_ranks();
  void add(std::uint64_t offset, base::Error error) { defects_.push_back({offset, -1, -1, std::move(error)}); }
  /// No chunk is written with so long a hole: the file has less than it claims.
  void add_hole(std::uint64_t offset, std::int64_t rank) {
    const std::string cause = "nothing was ever written at offset " + std::to_string(offset);
    defects_.push_back({offset, rank, -1, {PERDURE_CORRUPT, source_.name(), cause, "", false}});
  }
  void advance(std::uint64_t bytes) const {
    if (progress_) progress_(bytes);
  }
  /// Calls `use(offset, block)` for [begin, end) in blocks; false after an error, which is reported for `rank`. It does
  /// not read blocks that the source knows to be zero.
  template <class Use>
  bool for_blocks(std::uint64_t begin, std::uint64_t end, std::int64_t rank, const Use& use);

  const ByteSource& source_;
  const Progress& progress_;
  std::vector<std::byte> buffer_, zeros_;
  std::map<std::uint64_t, base::Hash128> holes_;  ///< hashes of holes, by length: chunks have few lengths
  bool believed_ = true;                          ///< trusts the source about zeros
  bool used_ = false;                             ///< the source reported zeros for a block
  bool sure_ = false;                             ///< it was right, or distrust does not help
  std::vector<Defect> defects_;
  std::uint32_t first_rank_ = kNoRank;
  std::uint32_t last_rank_ = kNoRank;
  Trailer trailer_;
  Manifest manifest_;
  TakenRanges taken_;
};

template <class Use>
bool Verifier::for_blocks(std::uint64_t begin, std::uint64_t end, std::int64_t rank, const Use& use) {
  for (std::uint64_t offset = begin; offset < end;) {
    const auto bytes = static_cast<std::size_t>(std::min(kVerifiedAtOnce, end - offset));
    const bool hole = believed_ && source_.zeros(offset) >= bytes;
    std::vector<std::byte>& blocks = hole ? zeros_ : buffer_;
    blocks.resize(std::min(kVerifiedAtOnce, source_.size()));
    used_ |= hole;
    if (hole && end - begin > kLongestChunk) return add_hole(offset, rank), false;
    const base::ByteSpan block = base::ByteSpan(blocks).first(bytes);
    if (auto read = hole ? base::Status() : source_.read(offset, block); !read) {
      defects_.push_back({offset, rank, -1, std::move(read).error()});
      return false;
    }
    advance(bytes);
    if (!use(offset, block)) return true;
    offset += bytes;
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
  auto manifest = read_contents(source_, *trailer);
  if (!manifest) return add(trailer->manifest_offset, manifest.error()), false;
  advance(trailer->manifest_length + kTrailerBytes);
  if (const auto ranks = manifest->ranks_here(); first_rank_ == kNoRank && !ranks.empty()) {
    first_rank_ = ranks.front();
    last_rank_ = ranks.back();
  }
  if (auto agree = check_header(*block, *manifest, source_.name()); header && !agree) add(0, agree.error());
  trailer_ = *trailer;
  manifest_ = std::move(*manifest);
  return true;
}

// One table is in memory at a time.
void Verifier::check_data() {
  bool whole = true;
  for (const Piece& piece : manifest_.pieces) check_chunks(piece);
  for (const Table& table : manifest_.tables) whole &= check_rank(table);
  if (!whole) return;
  std::uint64_t end = kHeaderBytes;
  std::int64_t rank = -1;
  for (const auto& [begin, run] : taken_.runs()) {
    check_zero(end, begin, rank);
    end = run.end;
    rank = run.rank;
  }
  check_zero(end, trailer_.manifest_offset, rank);
  check_zero(trailer_.manifest_offset + trailer_.manifest_length, trailer_.file_bytes - kTrailerBytes, -1);
}

bool Verifier::check_rank(const Table& table) {
  cover({table.offset, table.length, table.rank});
  auto piece = decode_table(reads(source_), trailer_, manifest_, table, source_.name());
  advance(table.length);
  if (piece) return check_chunks(*piece), true;
  defects_.push_back({table.offset, table.rank, -1, std::move(piece).error()});
  return false;
}

void Verifier::check_chunks(const Piece& piece) {
  for (const Position& chunk : positions(piece)) {
    check_chunk(chunk);
    cover(chunk);
  }
}

void Verifier::cover(const Position& part) {
  const std::uint64_t end = part.offset + part.length;
  const std::uint64_t next = std::min(base::round_up(end, alignment_of(manifest_)), trailer_.manifest_offset);
  check_zero(end, next, part.rank);
  if (taken_.add(part.offset, next, part.rank)) return;
  const std::string cause = "a part of rank " + std::to_string(part.rank) + " at offset " +
                            std::to_string(part.offset) + " overlaps another part";
  defects_.push_back({part.offset, part.rank, -1, {PERDURE_CORRUPT, source_.name(), cause, "", false}});
}

void Verifier::check_chunk(const Position& chunk) {
  const base::Hash128& expected = chunk.piece->chunks[chunk.index].stored_hash();
  used_ = false;
  auto found = hash_of(chunk);
  // File systems have been wrong about holes, and a damaged segment is quarantined. So the first mismatch with holes is
  // read again. Later mismatches are not, which keeps the cost down.
  if (found && *found != expected && used_ && !std::exchange(sure_, true) && chunk.length <= kMostReadAgain) {
    believed_ = false;
    found = hash_of(chunk);
    believed_ = !found || *found != expected;
  }
  const std::int64_t rank = chunk.rank;
  const auto index = static_cast<std::int64_t>(chunk.index);
  if (!found) {
    defects_.back().chunk = index;
  } else if (*found != expected) {
    defects_.push_back({chunk.offset, rank, index, chunk_damage(*chunk.piece, chunk.index, *found, source_.name())});
  }
}

std::optional<base::Hash128> Verifier::hash_of(const Position& chunk) {
  if (believed_ && chunk.length > 0 && chunk.length <= kLongestChunk && source_.zeros(chunk.offset) >= chunk.length) {
    used_ = true;
    advance(chunk.length);
    return hash_of_hole(chunk.length);
  }
  base::Hasher hasher;
  const bool read = for_blocks(chunk.offset, chunk.offset + chunk.length, chunk.rank,
                               [&](std::uint64_t, base::ByteSpan block) { return hasher.update(block), true; });
  return read ? std::optional(hasher.digest()) : std::nullopt;
}

base::Hash128 Verifier::hash_of_hole(std::uint64_t bytes) {
  const auto [known, anew] = holes_.try_emplace(bytes);
  if (!anew) return known->second;
  zeros_.resize(std::min(kVerifiedAtOnce, source_.size()));
  base::Hasher hasher;
  for (std::uint64_t left = bytes; left > 0;) {
    const auto block = base::ConstByteSpan(zeros_).first(std::min<std::uint64_t>(zeros_.size(), left));
    hasher.update(block);
    left -= block.size();
  }
  return known->second = hasher.digest();
}

void Verifier::check_zero(std::uint64_t begin, std::uint64_t end, std::int64_t rank) {
  while (begin < end) {
    const std::uint64_t hole = std::min(source_.zeros(begin), end - begin);
    advance(hole);
    begin += hole;
    const std::uint64_t stop = std::min(end, begin + kVerifiedAtOnce);
    if (!check_written_zero(begin, stop, rank)) return;
    begin = stop;
  }
}

bool Verifier::check_written_zero(std::uint64_t begin, std::uint64_t end, std::int64_t rank) {
  bool zero = true;
  const bool read = for_blocks(begin, end, rank, [&](std::uint64_t offset, base::ByteSpan block) {
    auto bad = std::find_if(block.begin(), block.end(), [](std::byte b) { return b != std::byte{0}; });
    zero = bad == block.end();
    if (zero) return true;
    offset += static_cast<std::uint64_t>(bad - block.begin());
    const std::string cause = "byte at offset " + std::to_string(offset) + " should be zero: padding damaged" +
                              (rank < 0 ? std::string() : ", behind a chunk of rank " + std::to_string(rank));
    defects_.push_back({offset, rank, -1, {PERDURE_CORRUPT, source_.name(), cause, "", false}});
    return false;
  });
  return read && zero;
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
