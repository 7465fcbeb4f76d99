#include "segment/reader.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "segment/encoding.hpp"
#include "segment/stages.hpp"

namespace perdure::segment {
namespace {

class PlainStream : public ByteStream {
 public:
  PlainStream(const ByteSource& source, std::uint64_t offset) : source_(source), offset_(offset) {}
  base::Status read(base::ByteSpan target, base::Hasher& hasher) override {
    PERDURE_CHECK(source_.read(offset_, target));
    hasher.update(target);
    offset_ += target.size();
    return {};
  }

 private:
  const ByteSource& source_;
  std::uint64_t offset_;
};

}  // namespace

std::unique_ptr<ByteStream> ByteSource::stream(std::uint64_t offset, std::uint64_t /*bytes*/) const {
  return std::make_unique<PlainStream>(*this, offset);
}

base::Status check_size(std::uint64_t bytes, const std::string& object) {
  if (bytes == 0) return base::fail(PERDURE_CORRUPT, object, "the file is empty");
  if (bytes < kMinSegmentBytes)
    return base::fail(PERDURE_CORRUPT, object,
                      "too short for a segment: " + std::to_string(bytes) + " bytes, the smallest has " +
                          std::to_string(kMinSegmentBytes));
  if (bytes % kAlignment != 0)
    return base::fail(PERDURE_CORRUPT, object,
                      "the size of " + std::to_string(bytes) +
                          " bytes is not a multiple of 4096: the file is truncated or something was appended");
  return {};
}

base::Result<std::vector<std::byte>> read_header(const ByteSource& source) {
  std::vector<std::byte> header(kHeaderBytes);
  PERDURE_CHECK(source.read(0, header));
  return header;
}

base::Result<Trailer> read_trailer(const ByteSource& source) {
  std::vector<std::byte> trailer(kTrailerBytes);
  PERDURE_CHECK(source.read(source.size() - kTrailerBytes, trailer));
  return decode_trailer(trailer, source.size(), source.name());
}

ReadAt reads(const ByteSource& source) {
  return [&source](std::uint64_t offset, base::ByteSpan target) { return source.read(offset, target); };
}

base::Result<Manifest> read_contents(const ByteSource& source, const Trailer& trailer) {
  return decode_contents(reads(source), trailer, source.name());
}

base::Error chunk_damage(const Piece& piece, std::size_t index, const base::Hash128& found, const std::string& object) {
  const ChunkEntry& chunk = piece.chunks[index];
  return {PERDURE_CORRUPT, object,
          "chunk " + std::to_string(index) + " of rank " + std::to_string(piece.rank) + " at offset " +
              std::to_string(chunk.offset) + " (" + std::to_string(chunk.stored_length()) +
              " bytes) damaged: its hash is " + found.hex() + ", the manifest says " + chunk.stored_hash().hex(),
          "", false};
}

namespace {

/// Reads header and trailer, and decodes the part that the trailer points to; checks that it agrees with the header.
template <class Decode>
base::Result<Manifest> read_framed(const ByteSource& source, const Decode& decode) {
  PERDURE_CHECK(check_size(source.size(), source.name()));
  PERDURE_TRY(std::vector<std::byte> header, read_header(source));
  if (auto decoded = decode_header(header, source.name()); !decoded) return base::fail(std::move(decoded).error());
  PERDURE_TRY(Trailer trailer, read_trailer(source));
  PERDURE_TRY(Manifest manifest, decode(trailer));
  PERDURE_CHECK(check_header(header, manifest, source.name()));
  return manifest;
}

base::Result<Manifest> decodable(Manifest manifest, const ByteSource& source) {
  for (const Piece& piece : manifest.pieces)
    for (std::size_t i = 0; i < piece.chunks.size(); ++i) PERDURE_CHECK(check_decodable(piece, i, source.name()));
  return manifest;
}

}  // namespace

base::Result<Manifest> read_manifest(const ByteSource& source) {
  PERDURE_TRY(Manifest manifest, read_framed(source, [&](const Trailer& trailer) {
                return decode_manifest(reads(source), trailer, source.name());
              }));
  return decodable(std::move(manifest), source);
}

base::Result<Manifest> read_contents(const ByteSource& source) {
  return read_framed(source, [&](const Trailer& trailer) { return read_contents(source, trailer); });
}

base::Result<Manifest> read_rank(const ByteSource& source, std::uint32_t rank) {
  Trailer trailer;
  PERDURE_TRY(Manifest manifest, read_framed(source, [&](const Trailer& found) {
                trailer = found;
                return read_contents(source, found);
              }));
  std::erase_if(manifest.pieces, [rank](const Piece& piece) { return piece.rank != rank; });
  for (const Table& table : manifest.tables) {
    if (table.rank != rank) continue;
    PERDURE_TRY(Piece piece, decode_table(reads(source), trailer, manifest, table, source.name()));
    manifest.pieces.push_back(std::move(piece));
  }
  return decodable(std::move(manifest), source);
}

base::Status read_chunk(const ByteSource& source, const Piece& piece, std::size_t chunk_index, base::ByteSpan target) {
  if (chunk_index >= piece.chunks.size() || piece.chunks[chunk_index].length != target.size())
    return base::fail(PERDURE_INVALID_ARGUMENT, source.name(),
                      "chunk " + std::to_string(chunk_index) + " of rank " + std::to_string(piece.rank) +
                          " does not have " + std::to_string(target.size()) + " bytes");
  PERDURE_CHECK(check_decodable(piece, chunk_index, source.name()));
  const ChunkEntry& chunk = piece.chunks[chunk_index];
  base::Hasher hasher;
  PERDURE_CHECK(decoder_for(chunk.encoding)(source, chunk, target, hasher));
  if (const base::Hash128 found = hasher.digest(); found != chunk.hash)
    return base::fail(chunk_damage(piece, chunk_index, found, source.name()));
  return {};
}

}  // namespace perdure::segment
