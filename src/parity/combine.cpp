#include "parity/combine.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "parity/read_ahead.hpp"
#include "redundancy/kernels.hpp"

namespace perdure::parity {
namespace {

struct PieceOfSource {
  std::size_t source = 0;
  std::uint64_t at = 0;  ///< within block and target
  std::size_t bytes = 0;
};

/// By position, then by source.
std::vector<PieceOfSource> pieces_of(const std::vector<Source>& sources, std::uint64_t longest, std::size_t piece) {
  std::vector<PieceOfSource> pieces;
  for (std::uint64_t at = 0; at < longest; at += piece)
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (const std::uint64_t bytes = sources[i].block->bytes; bytes > at)
        pieces.push_back({i, at, static_cast<std::size_t>(std::min<std::uint64_t>(piece, bytes - at))});
  return pieces;
}

/// Adds pieces to the target, in the order of pieces_of().
class Adder {
 public:
  Adder(const std::vector<Source>& sources, ByteSpan target, Start start)
      : sources_(sources), target_(target), start_(start), hashers_(sources.size()) {
    for (auto& hasher : hashers_) hasher = std::make_unique<base::Hasher>();
  }

  base::Status add(const PieceOfSource& piece, ConstByteSpan data, std::size_t piece_bytes) {
    base::Hasher& hasher = *hashers_[piece.source];
    hasher.update(data);
    const bool first = piece.at >= reached_;
    if (first) {
      finish_piece();
      finished_ = reached_;
      reached_ = std::min<std::uint64_t>(target_.size(), piece.at + piece_bytes);
    }
    std::byte* to = target_.data() + piece.at;
    if (first && start_ == Start::empty) {
      std::memcpy(to, data.data(), data.size());
      std::memset(to + data.size(), 0, reached_ - piece.at - data.size());
    } else {
      redundancy::exclusive_or_into(to, data.data(), data.size());
    }
    const Source& source = sources_[piece.source];
    if (piece.at + piece.bytes < source.block->bytes || hasher.digest() == source.block->hash) return {};
    return base::fail(PERDURE_CORRUPT, source.name, "its content is not what its hash says");
  }

  base::Hash128 result() {
    finish_piece();
    return result_.digest();
  }

 private:
  void finish_piece() { result_.update(target_.subspan(finished_, reached_ - finished_)); }

  const std::vector<Source>& sources_;
  const ByteSpan target_;
  const Start start_;
  std::vector<std::unique_ptr<base::Hasher>> hashers_;
  base::Hasher result_;
  std::uint64_t finished_ = 0, reached_ = 0;  // the target's piece that is worked on
};

}  // namespace

base::Result<base::Hash128> combine(Reader& reader, const std::vector<Source>& sources, ByteSpan target, Start start,
                                    Progress& progress) {
  const ReadLimits& limits = reader.limits();
  const auto pieces = pieces_of(sources, target.size(), limits.piece_bytes);
  if (pieces.empty()) return base::hash128(target);
  const auto fetch = [&](std::size_t index, ByteSpan buffer) -> base::Result<std::size_t> {
    const PieceOfSource& piece = pieces[index];
    const Source& source = sources[piece.source];
    if (progress.given_up) return base::fail(PERDURE_CLOSED, source.name, "the work for it was given up");
    PERDURE_CHECK(reader.read(source, piece.at, buffer.first(piece.bytes)));
    return piece.bytes;
  };
  ReadAhead reads(pieces.size(), limits.reads + 2, limits.piece_bytes, limits.reads, fetch);
  Adder adder(sources, target, start);
  for (const PieceOfSource& piece : pieces) {
    PERDURE_TRY(const ConstByteSpan data, reads.next());
    PERDURE_CHECK(adder.add(piece, data, limits.piece_bytes));
    progress.pulled += piece.bytes;
  }
  return adder.result();
}

}  // namespace perdure::parity
