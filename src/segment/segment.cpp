#include "segment/segment.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "segment/chunk_ranges.hpp"
#include "segment/little_endian.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::segment {
namespace {

using base::ConstByteSpan;
using base::Result;
using base::Status;

constexpr std::string_view kHeaderMagic{"\x89PDS\r\n\x1a\n", 8};
constexpr std::string_view kTrailerMagic{"\x89PDT\r\n\x1a\n", 8};
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::uint32_t kOldestFormat = 1;
constexpr std::uint64_t kHashBytes = 16;
constexpr std::uint64_t kNameBytes = 128;

/// Offsets of the fields, as in docs/format/segment.md.
enum HeaderField : std::size_t {
  kFormatAt = 8,
  kByteOrderAt = 12,
  kVersionAt = 16,
  kCreatedAt = 24,
  kNonceAt = 32,
  kRanksAt = 40,
  kIndexAt = 44,
  kCountAt = 48,
  kFirstRankAt = 52,
  kLastRankAt = 56,
  kNameLengthAt = 60,
  kNameAt = 64,
  kHeaderHashAt = 4080
};
enum TrailerField : std::size_t {
  kManifestOffsetAt = 8,
  kManifestLengthAt = 16,
  kManifestHashAt = 24,
  kFileBytesAt = 40,
  kTrailerHashAt = 48
};

tl::unexpected<base::Error> damaged(const std::string& object, std::string cause) {
  return base::fail(PERDURE_CORRUPT, object, std::move(cause));
}

bool has_magic(ConstByteSpan block, std::string_view magic) {
  return std::memcmp(block.data(), magic.data(), magic.size()) == 0;
}

void put_bytes(base::ByteSpan block, std::size_t offset, ConstByteSpan data) {
  std::copy(data.begin(), data.end(), block.begin() + static_cast<std::ptrdiff_t>(offset));
}

base::Hash128 get_hash(ConstByteSpan block, std::size_t offset) {
  std::array<std::byte, kHashBytes> bytes{};
  std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(offset), kHashBytes, bytes.begin());
  return base::Hash128::from_bytes(bytes);
}

Status check_format(ConstByteSpan header, const std::string& object) {
  const auto order = get_le<std::uint32_t>(header, kByteOrderAt);
  if (order != kByteOrder) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%x", order);
    return base::fail(PERDURE_UNSUPPORTED, object, std::string("unknown byte order ") + text.data() + " at offset 12");
  }
  const auto format = get_le<std::uint32_t>(header, kFormatAt);
  if (format > kFormatVersion)
    return base::fail(PERDURE_UNSUPPORTED, object,
                      "written by a newer Perdure (format " + std::to_string(format) + ", this one reads up to " +
                          std::to_string(kFormatVersion) + ")",
                      "read it with the Perdure that wrote it, or a newer one");
  if (format < kOldestFormat)
    return damaged(object, "format version " + std::to_string(format) + " at offset 8 does not exist");
  return {};
}

}  // namespace

std::uint32_t format_of(const Manifest& manifest) {
  for (const Piece& piece : manifest.pieces)
    if (!std::all_of(piece.regions.begin(), piece.regions.end(), [](const auto& entry) { return entry.plain(); }))
      return 2;
  return 1;
}

std::vector<std::byte> encode_header(const Manifest& manifest) {
  std::vector<std::byte> block(kHeaderBytes);
  put_bytes(block, 0, base::as_bytes(kHeaderMagic));
  put_le(block, kFormatAt, format_of(manifest));
  put_le(block, kByteOrderAt, kByteOrder);
  put_le(block, kVersionAt, manifest.id.version);
  put_le(block, kCreatedAt, manifest.id.attempt.created_ns);
  put_le(block, kNonceAt, manifest.id.attempt.nonce);
  put_le(block, kRanksAt, manifest.ranks);
  put_le(block, kIndexAt, manifest.segment_index);
  put_le(block, kCountAt, manifest.segment_count);
  put_le(block, kFirstRankAt, manifest.pieces.empty() ? kNoRank : manifest.pieces.front().rank);
  put_le(block, kLastRankAt, manifest.pieces.empty() ? kNoRank : manifest.pieces.back().rank);
  const std::string name = manifest.id.name.substr(0, kNameBytes);
  put_le(block, kNameLengthAt, static_cast<std::uint32_t>(name.size()));
  put_bytes(block, kNameAt, base::as_bytes(name));
  put_bytes(block, kHeaderHashAt, base::hash128(ConstByteSpan(block).first(kHeaderHashAt)).bytes());
  return block;
}

Result<Header> decode_header(ConstByteSpan block, const std::string& object) {
  if (block.size() != kHeaderBytes) return damaged(object, "header block cut short");
  if (!has_magic(block, kHeaderMagic)) return damaged(object, "not a Perdure segment: wrong magic at offset 0");
  if (get_hash(block, kHeaderHashAt) != base::hash128(block.first(kHeaderHashAt)))
    return damaged(object, "header block damaged: wrong hash at offset 4080");
  PERDURE_CHECK(check_format(block, object));
  const auto length = get_le<std::uint32_t>(block, kNameLengthAt);
  if (length > kNameBytes)
    return damaged(object, "name length " + std::to_string(length) + " at offset 60 is above 128");
  Header header;
  header.format = get_le<std::uint32_t>(block, kFormatAt);
  header.id.name.assign(reinterpret_cast<const char*>(block.data()) + kNameAt, length);
  if (!check_name(header.id.name)) return damaged(object, "name at offset 64 is not allowed");
  header.id.version = get_le<std::uint64_t>(block, kVersionAt);
  header.id.attempt = {get_le<std::uint64_t>(block, kCreatedAt), get_le<std::uint64_t>(block, kNonceAt)};
  header.ranks = get_le<std::uint32_t>(block, kRanksAt);
  header.segment_index = get_le<std::uint32_t>(block, kIndexAt);
  header.segment_count = get_le<std::uint32_t>(block, kCountAt);
  header.first_rank = get_le<std::uint32_t>(block, kFirstRankAt);
  header.last_rank = get_le<std::uint32_t>(block, kLastRankAt);
  return header;
}

Status check_header(ConstByteSpan block, const Manifest& manifest, const std::string& object) {
  PERDURE_TRY(Header header, decode_header(block, object));
  auto differ = [&](const char* what) {
    return damaged(object, std::string("header and manifest disagree about the ") + what);
  };
  if (header.format != format_of(manifest)) return differ("format");
  if (header.id.name != manifest.id.name) return differ("name");
  if (header.id.version != manifest.id.version) return differ("version");
  if (header.id.attempt != manifest.id.attempt) return differ("attempt");
  if (header.ranks != manifest.ranks) return differ("ranks");
  if (header.segment_index != manifest.segment_index || header.segment_count != manifest.segment_count)
    return differ("segment");
  if (header.first_rank != (manifest.pieces.empty() ? kNoRank : manifest.pieces.front().rank))
    return differ("first rank");
  if (header.last_rank != (manifest.pieces.empty() ? kNoRank : manifest.pieces.back().rank)) return differ("last rank");
  // What is left are the reserved bytes: those that this format would have written are the only ones allowed.
  if (const auto expected = encode_header(manifest); !std::equal(block.begin(), block.end(), expected.begin()))
    return damaged(object, "reserved bytes of the header block are not zero");
  return {};
}

std::uint64_t lay_out(Manifest& manifest) {
  std::uint64_t offset = kHeaderBytes;
  for (Piece& piece : manifest.pieces) {
    for (ChunkEntry& chunk : piece.chunks) {
      chunk.offset = offset;
      offset = base::round_up(offset + chunk.length, kAlignment);
    }
  }
  return offset;
}

std::vector<std::byte> encode_tail(const Manifest& manifest, std::uint64_t manifest_offset) {
  std::vector<std::byte> tail = base::encode_cbor(to_json(manifest));
  const std::uint64_t length = tail.size();
  const base::Hash128 hash = base::hash128(tail);
  tail.resize(base::round_up(length + kTrailerBytes, kAlignment));
  base::ByteSpan trailer = base::ByteSpan(tail).last(kTrailerBytes);
  put_bytes(trailer, 0, base::as_bytes(kTrailerMagic));
  put_le<std::uint64_t>(trailer, kManifestOffsetAt, manifest_offset);
  put_le<std::uint64_t>(trailer, kManifestLengthAt, length);
  put_bytes(trailer, kManifestHashAt, hash.bytes());
  put_le<std::uint64_t>(trailer, kFileBytesAt, manifest_offset + tail.size());
  put_bytes(trailer, kTrailerHashAt, base::hash128(trailer.first(kTrailerHashAt)).bytes());
  return tail;
}

Status check_readable(ConstByteSpan tail, const std::string& object) {
  const auto length = get_le<std::uint64_t>(tail.last(kTrailerBytes), kManifestLengthAt);
  if (length > kMaxManifestBytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      "its manifest would have " + std::to_string(length) + " bytes, readers take " +
                          std::to_string(kMaxManifestBytes));
  return base::check_cbor(tail.first(length), object + ": its manifest");
}

Result<Trailer> decode_trailer(ConstByteSpan block, std::uint64_t file_bytes, const std::string& object) {
  if (block.size() != kTrailerBytes || file_bytes < kMinSegmentBytes) return damaged(object, "trailer cut short");
  const std::string at = "at offset " + std::to_string(file_bytes - kTrailerBytes);
  if (!has_magic(block, kTrailerMagic))
    return damaged(object, "no trailer " + at + ": the file is truncated or damaged");
  if (get_hash(block, kTrailerHashAt) != base::hash128(block.first(kTrailerHashAt)))
    return damaged(object, "trailer damaged: wrong hash " + at);
  Trailer trailer;
  trailer.manifest_offset = get_le<std::uint64_t>(block, kManifestOffsetAt);
  trailer.manifest_length = get_le<std::uint64_t>(block, kManifestLengthAt);
  trailer.manifest_hash = get_hash(block, kManifestHashAt);
  trailer.file_bytes = get_le<std::uint64_t>(block, kFileBytesAt);
  if (trailer.file_bytes != file_bytes)
    return damaged(object, "the trailer " + at + " says the file has " + std::to_string(trailer.file_bytes) +
                               " bytes, it has " + std::to_string(file_bytes));
  const std::string offset = "manifest offset " + std::to_string(trailer.manifest_offset);
  const std::string length = "manifest length " + std::to_string(trailer.manifest_length);
  if (trailer.manifest_offset < kHeaderBytes || trailer.manifest_offset % kAlignment != 0)
    return damaged(object, offset + " is not a multiple of 4096 behind the header");
  if (trailer.manifest_length == 0 || trailer.manifest_length > kMaxManifestBytes)
    return damaged(object, length + " is not between 1 and 2^30");
  // The offset is compared alone first, so that the sum cannot overflow.
  if (trailer.manifest_offset > file_bytes ||
      trailer.manifest_offset + base::round_up(trailer.manifest_length + kTrailerBytes, kAlignment) != file_bytes)
    return damaged(object, offset + " and length " + std::to_string(trailer.manifest_length) +
                               " do not fit the file of " + std::to_string(file_bytes) + " bytes");
  return trailer;
}

Result<Manifest> decode_manifest(ConstByteSpan bytes, const Trailer& trailer, const std::string& object) {
  const std::string at = "manifest at offset " + std::to_string(trailer.manifest_offset);
  if (bytes.size() != trailer.manifest_length) return damaged(object, at + " cut short");
  if (base::hash128(bytes) != trailer.manifest_hash) return damaged(object, "manifest damaged: wrong hash, " + at);
  const std::string inside = object + ": " + at;
  PERDURE_TRY(base::Json json, base::decode_cbor(bytes, inside));
  PERDURE_TRY(Manifest manifest, manifest_from_json(json, inside));
  PERDURE_CHECK(check_chunk_ranges(manifest, trailer.manifest_offset, inside));
  return manifest;
}

}  // namespace perdure::segment
