#pragma once
// Makes versions and segments with unique content, for tests.
#include <algorithm>
#include <string>
#include <vector>

#include "segment/segment.hpp"

namespace perdure::test_support {

/// Returns byte i of the capture of `rank`; it depends on rank, version and attempt.
inline std::byte sample_byte(const segment::VersionId& id, std::uint32_t rank, std::uint64_t i) {
  const std::uint64_t mix = (i + 1) * 0x9E3779B97F4A7C15ULL ^ (rank * 0x85EBCA6BULL) ^ (id.version * 0xC2B2AE35ULL) ^
                            (id.attempt.nonce * 0x27D4EB2FULL);
  return static_cast<std::byte>((mix ^ (mix >> 29)) & 0xFF);
}

inline std::vector<std::byte> sample_capture(const segment::VersionId& id, std::uint32_t rank, std::uint64_t bytes) {
  std::vector<std::byte> capture(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) capture[i] = sample_byte(id, rank, i);
  return capture;
}

/// Returns one rank's piece: two regions (ids 0 and 7) that share `bytes`, cut into chunks. Offsets are not assigned.
inline segment::Piece sample_piece(const segment::VersionId& id, std::uint32_t rank, std::uint64_t bytes,
                                   std::uint64_t chunk_bytes) {
  segment::Piece piece{rank, chunk_bytes, {{0, 1, bytes / 3}, {7, 1, bytes - bytes / 3}}, {}};
  const std::vector<std::byte> capture = sample_capture(id, rank, bytes);
  for (std::uint64_t begin = 0; begin < bytes; begin += chunk_bytes) {
    const std::uint64_t length = std::min(chunk_bytes, bytes - begin);
    piece.chunks.push_back({0, length, base::hash128(base::ConstByteSpan(capture).subspan(begin, length)), 0});
  }
  return piece;
}

/// Returns the same piece with features of format 2: the second region is opaque, with attributes of every type.
inline segment::Piece attributed_piece(segment::Piece piece) {
  piece.regions[0].attributes = {{"units", std::string("kelvin")}};
  piece.regions[1].kind = segment::EntryKind::opaque;
  piece.regions[1].attributes = {{"shape", std::vector<std::int64_t>{3, 0, -4}},
                                 {"key", std::vector<std::byte>{std::byte{0}, std::byte{255}}},
                                 {"least", std::int64_t{-9}},
                                 {"most", std::int64_t{1} << 60},
                                 {"ghosts", true}};
  return piece;
}

/// Returns the manifest of one segment with the pieces of `ranks_here`, laid out.
inline segment::Manifest sample_manifest(const segment::VersionId& id, std::uint32_t ranks, std::uint32_t index,
                                         std::uint32_t count, const std::vector<std::uint32_t>& ranks_here,
                                         std::uint64_t bytes, std::uint64_t chunk_bytes) {
  segment::Manifest manifest{id, ranks, index, count, "perdure test", {}};
  for (std::uint32_t rank : ranks_here) manifest.pieces.push_back(sample_piece(id, rank, bytes, chunk_bytes));
  segment::lay_out(manifest);
  return manifest;
}

/// Returns the whole file. `manifest` must be laid out.
inline std::vector<std::byte> sample_file(segment::Manifest manifest,
                                          segment::Tables tables = segment::Tables::when_needed) {
  const std::uint64_t manifest_offset = segment::lay_out(manifest, tables);
  std::vector<std::byte> file = segment::encode_header(manifest);
  file.resize(manifest_offset);
  for (const segment::Piece& piece : manifest.pieces) {
    const std::vector<std::byte> capture = sample_capture(manifest.id, piece.rank, piece.capture_bytes());
    for (std::size_t i = 0; i < piece.chunks.size(); ++i)
      std::copy_n(capture.begin() + static_cast<std::ptrdiff_t>(i * piece.chunk_bytes), piece.chunks[i].length,
                  file.begin() + static_cast<std::ptrdiff_t>(piece.chunks[i].offset));
  }
  const std::vector<std::byte> tail = segment::encode_tail(manifest, manifest_offset);
  file.insert(file.end(), tail.begin(), tail.end());
  return file;
}

}  // namespace perdure::test_support

namespace perdure::segment {

/// For test_support::AnyValue: fills in a piece of up to four chunks of rank 0 to 3.
template <class Any>
void fill_sample(Piece& piece, Any& any) {
  const VersionId id{"any", any.below(9), {1, any.below(9)}};
  piece = test_support::sample_piece(id, static_cast<std::uint32_t>(any.below(4)), any.below(16000), 4096);
}

template <class Any>
void fill_sample(Attributes& attributes, Any& any) {
  attributes = Attributes(any.template make<Attributes::Map>());
}

}  // namespace perdure::segment
