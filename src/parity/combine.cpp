#include "parity/combine.hpp"

#include <algorithm>
#include <array>
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

/// Sorts by position, then by source.
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
    const bool first = piece.at >= reached_;
    if (first) {
      finish_piece();
      finished_ = reached_;
      reached_ = std::min<std::uint64_t>(target_.size(), piece.at + piece_bytes);
    }
    base::Hasher& hasher = *hashers_[piece.source];
    const bool copies = first && start_ == Start::empty;
    for (std::size_t done = 0; done < data.size(); done += part_.size()) {
      const ByteSpan part = ByteSpan(part_).first(std::min(part_.size(), data.size() - done));
      std::memcpy(part.data(), data.data() + done, part.size());
      hasher.update(part);
      std::byte* to = target_.data() + piece.at + done;
      if (copies) std::memcpy(to, part.data(), part.size());
      if (!copies) redundancy::exclusive_or_into(to, part.data(), part.size());
    }
    if (copies) std::memset(target_.data() + piece.at + data.size(), 0, reached_ - piece.at - data.size());
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
  std::array<std::byte, 16384> part_{};       // a private copy that is hashed and added
  std::uint64_t finished_ = 0, reached_ = 0;  // the piece of the target in progress
};

using Views = std::vector<std::optional<network::View>>;

base::Result<Views> views_of(Reader& reader, const std::vector<Source>& sources) {
  Views views;
  for (const Source& source : sources) {
    PERDURE_TRY(auto view, reader.view(source));
    const Block& block = *source.block;
    if (view && (block.offset > view->bytes().size() || block.bytes > view->bytes().size() - block.offset))
      return base::fail(PERDURE_INVALID_ARGUMENT, source.name, "it is not within the memory that it names");
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace

base::Result<base::Hash128> combine(Reader& reader, const std::vector<Source>& sources, ByteSpan target, Start start,
                                    Progress& progress) {
  const ReadLimits& limits = reader.limits();
  PERDURE_TRY(const Views views, views_of(reader, sources));
  const bool all_here = std::all_of(views.begin(), views.end(), [](const auto& view) { return view.has_value(); });
  const std::size_t piece_bytes = all_here ? limits.local_piece_bytes : limits.piece_bytes;
  const auto pieces = pieces_of(sources, target.size(), piece_bytes);
  if (pieces.empty()) return base::hash128(target);
  std::vector<const PieceOfSource*> remote;
  for (const PieceOfSource& piece : pieces)
    if (!views[piece.source]) remote.push_back(&piece);
  const auto fetch = [&](std::size_t index, ByteSpan buffer) -> base::Result<std::size_t> {
    const PieceOfSource& piece = *remote[index];
    const Source& source = sources[piece.source];
    if (progress.given_up) return base::fail(PERDURE_CLOSED, source.name, "the work for it was given up");
    PERDURE_CHECK(reader.read(source, piece.at, buffer.first(piece.bytes)));
    return piece.bytes;
  };
  ReadAhead reads(remote.size(), limits.reads + 2, piece_bytes, limits.reads, fetch);
  const auto adder = std::make_unique<Adder>(sources, target, start);
  for (const PieceOfSource& piece : pieces) {
    const Source& source = sources[piece.source];
    if (progress.given_up) return base::fail(PERDURE_CLOSED, source.name, "the work for it was given up");
    ConstByteSpan data;
    if (const auto& view = views[piece.source]) {
      data = view->bytes().subspan(source.block->offset + piece.at, piece.bytes);
    } else {
      PERDURE_TRY(data, reads.next());
    }
    PERDURE_CHECK(adder->add(piece, data, piece_bytes));
    progress.pulled += piece.bytes;
  }
  return adder->result();
}

}  // namespace perdure::parity
