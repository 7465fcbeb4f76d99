#include "segment/segment.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "segment/chunk_ranges.hpp"
#include "segment/hashed_range.hpp"
#include "segment/little_endian.hpp"
#include "segment/manifest_codec.hpp"
#include "segment/manifest_decoder.hpp"
#include "segment/manifest_encoder.hpp"
#include "segment/stages.hpp"

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
constexpr std::uint64_t kItemsOfTable = 5;  // the array, and rank, offset, length, hash
constexpr std::uint64_t kMaxTableItems = base::kMaxCborItems;

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

// The header of format 4 is written before it is known which ranks follow.
std::uint32_t first_rank(const Manifest& manifest) {
  if (manifest.alignment) return kNoRank;
  if (!manifest.tables.empty()) return manifest.tables.front().rank;
  return manifest.pieces.empty() ? kNoRank : manifest.pieces.front().rank;
}

std::uint32_t last_rank(const Manifest& manifest) {
  if (manifest.alignment) return kNoRank;
  if (!manifest.tables.empty()) return manifest.tables.back().rank;
  return manifest.pieces.empty() ? kNoRank : manifest.pieces.back().rank;
}

std::uint64_t table_bytes(const Piece& piece, PieceForm form = PieceForm::placed) {
  base::CborWriter counted(nullptr);
  put_piece(counted, piece, form);
  return counted.size();
}

std::uint64_t manifest_bytes(const Manifest& manifest) {
  base::CborWriter counted(nullptr);
  put_manifest(counted, manifest);
  return counted.size();
}

bool needs_tables(const Manifest& manifest) {
  std::uint64_t items = kMostItemsBesidePieces;
  for (const Piece& piece : manifest.pieces) items += items_of(piece);
  return items > kMaxManifestItems || manifest_bytes(manifest) > kMaxManifestBytes;
}

/// Returns where the manifest, or the index behind the tables, begins.
std::uint64_t manifest_offset(const Manifest& manifest, std::uint64_t tail_offset) {
  if (manifest.tables.empty()) return tail_offset;
  const Table& last = manifest.tables.back();
  return base::round_up(last.offset + last.length, kAlignment);
}

/// `take` decodes the CBOR of `length` bytes at `offset`; its result is returned if the hash is right.
template <class Take>
auto decode_range(const ReadAt& read, std::uint64_t offset, std::uint64_t length, const base::Hash128& hash,
                  std::uint64_t most_items, const std::string& what, const std::string& object, const Take& take)
    -> decltype(take(std::declval<base::CborReader&>(), object)) {
  HashedRange range(read, offset, length);
  const std::string at = what + " at offset " + std::to_string(offset);
  base::CborReader in(length, most_items, range.next());
  auto decoded = take(in, object + ": " + at);
  PERDURE_TRY(const base::Hash128 found, range.rest(object, at));
  // A damaged part is reported as damaged, whatever its bytes decode to.
  if (found != hash) return damaged(object, what + " damaged: wrong hash, " + at);
  return decoded;
}

}  // namespace

std::uint32_t format_of(const Manifest& manifest) {
  if (manifest.alignment) return 4;
  if (!manifest.tables.empty()) return 3;
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
  put_le(block, kFirstRankAt, first_rank(manifest));
  put_le(block, kLastRankAt, last_rank(manifest));
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
  if (header.first_rank != first_rank(manifest)) return differ("first rank");
  if (header.last_rank != last_rank(manifest)) return differ("last rank");
  // The rest are reserved bytes, which must be those that this format would have written.
  if (const auto expected = encode_header(manifest); !std::equal(block.begin(), block.end(), expected.begin()))
    return damaged(object, "reserved bytes of the header block are not zero");
  return {};
}

std::uint64_t lay_out(Manifest& manifest, Tables tables) {
  manifest.alignment.reset();
  std::uint64_t offset = kHeaderBytes;
  for (Piece& piece : manifest.pieces) {
    for (ChunkEntry& chunk : piece.chunks) {
      chunk.offset = offset;
      offset = base::round_up(offset + chunk.length, kAlignment);
    }
  }
  manifest.tables.clear();
  if (tables == Tables::when_needed && !needs_tables(manifest)) return offset;
  std::uint64_t at = offset;
  for (const Piece& piece : manifest.pieces) {
    manifest.tables.push_back({piece.rank, at, table_bytes(piece), {}});
    at = base::round_up(at + manifest.tables.back().length, kAlignment);
  }
  return offset;
}

std::vector<std::byte> encode_table(const Piece& piece, PieceForm form) {
  std::vector<std::byte> table;
  table.reserve(base::round_up(table_bytes(piece, form), kAlignment));
  base::CborWriter cbor(&table);
  put_piece(cbor, piece, form);
  return table;
}

std::vector<std::byte> encode_end(const Manifest& manifest, std::uint64_t offset) {
  std::vector<std::byte> end;
  base::CborWriter cbor(&end);
  put_manifest(cbor, manifest);
  const std::uint64_t length = end.size();
  const base::Hash128 hash = base::hash128(end);
  end.resize(base::round_up(length + kTrailerBytes, kAlignment));
  base::ByteSpan trailer = base::ByteSpan(end).last(kTrailerBytes);
  put_bytes(trailer, 0, base::as_bytes(kTrailerMagic));
  put_le<std::uint64_t>(trailer, kManifestOffsetAt, offset);
  put_le<std::uint64_t>(trailer, kManifestLengthAt, length);
  put_bytes(trailer, kManifestHashAt, hash.bytes());
  put_le<std::uint64_t>(trailer, kFileBytesAt, offset + end.size());
  put_bytes(trailer, kTrailerHashAt, base::hash128(trailer.first(kTrailerHashAt)).bytes());
  return end;
}

Status write_tail(const Manifest& manifest, std::uint64_t tail_offset, const WriteAt& write) {
  const std::uint64_t offset = manifest_offset(manifest, tail_offset);
  if (manifest.tables.empty()) return write(offset, encode_end(manifest, offset));
  Manifest index{manifest.id, manifest.ranks, manifest.segment_index, manifest.segment_count, manifest.writer,
                 {},          manifest.tables};
  for (std::size_t i = 0; i < index.tables.size(); ++i) {
    std::vector<std::byte> table = encode_table(manifest.pieces[i], PieceForm::placed);
    index.tables[i].hash = base::hash128(table);
    table.resize(base::round_up(table.size(), kAlignment));
    PERDURE_CHECK(write(index.tables[i].offset, table));
  }
  return write(offset, encode_end(index, offset));
}

std::uint64_t tail_bytes(const Manifest& manifest, std::uint64_t tail_offset) {
  return manifest_offset(manifest, tail_offset) - tail_offset +
         base::round_up(manifest_bytes(manifest) + kTrailerBytes, kAlignment);
}

std::vector<std::byte> encode_tail(const Manifest& manifest, std::uint64_t tail_offset) {
  std::vector<std::byte> tail;
  (void)write_tail(manifest, tail_offset, [&](std::uint64_t, ConstByteSpan data) -> Status {
    tail.insert(tail.end(), data.begin(), data.end());  // each begins where the one before ended
    return {};
  });
  return tail;
}

Status check_describable(const Piece& piece, const std::string& object, PieceForm form) {
  const std::string whose = "rank " + std::to_string(piece.rank) + " has " + std::to_string(piece.regions.size()) +
                            " regions and " + std::to_string(piece.chunks.size()) + " chunks";
  constexpr const char* kRemedy = "put small regions together, raise chunk_bytes, or use more ranks";
  if (const std::uint64_t items = items_of(piece, form); items > kMaxTableItems)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      whose + ", more than a segment can describe of one rank (" + std::to_string(kMaxTableItems / 4) +
                          " regions or " + std::to_string(kMaxTableItems / 5) + " chunks)",
                      kRemedy);
  if (const std::uint64_t bytes = table_bytes(piece, form); bytes > kMaxManifestBytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      whose + ", whose description has " + base::format_bytes(bytes) + "; readers take " +
                          base::format_bytes(kMaxManifestBytes),
                      kRemedy);
  return {};
}

Status check_describable(const Manifest& manifest, const std::string& object) {
  for (const Piece& piece : manifest.pieces) PERDURE_CHECK(check_describable(piece, object));
  return check_tables(manifest.tables.size(), object);
}

Status check_tables(std::size_t tables, const std::string& object) {
  constexpr std::uint64_t kMostTables = (kMaxManifestItems - kMostItemsBesidePieces) / kItemsOfTable;
  if (tables > kMostTables)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      "a segment would have the pieces of " + std::to_string(tables) + " ranks; it may have those of " +
                          std::to_string(kMostTables),
                      "let fewer ranks share a segment (segment.per)");
  return {};
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
  // Compares the offset alone first, so that the sum cannot overflow.
  if (trailer.manifest_offset > file_bytes ||
      trailer.manifest_offset + base::round_up(trailer.manifest_length + kTrailerBytes, kAlignment) != file_bytes)
    return damaged(object, offset + " and length " + std::to_string(trailer.manifest_length) +
                               " do not fit the file of " + std::to_string(file_bytes) + " bytes");
  return trailer;
}

Result<Manifest> decode_contents(const ReadAt& read, const Trailer& trailer, const std::string& object) {
  PERDURE_TRY(Manifest manifest,
              decode_range(read, trailer.manifest_offset, trailer.manifest_length, trailer.manifest_hash,
                           kMaxManifestItems, "manifest", object, take_manifest));
  PERDURE_CHECK(check_ranges(manifest, trailer.manifest_offset,
                             object + ": manifest at offset " + std::to_string(trailer.manifest_offset)));
  return manifest;
}

Result<Piece> decode_table(const ReadAt& read, const Trailer& trailer, const Manifest& contents, const Table& table,
                           const std::string& object) {
  const PieceForm form = contents.alignment ? PieceForm::stored : PieceForm::placed;
  const std::string what = "table of rank " + std::to_string(table.rank);
  const auto take = [&](base::CborReader& in, const std::string& inside) -> Result<Piece> {
    PERDURE_TRY(Piece piece, take_piece(in, 0, inside, form));
    PERDURE_CHECK(in.end(inside));
    if (piece.rank == table.rank) return piece;
    return damaged(inside, "it is that of rank " + std::to_string(piece.rank));
  };
  PERDURE_TRY(Piece piece,
              decode_range(read, table.offset, table.length, table.hash, kMaxTableItems, what, object, take));
  PERDURE_CHECK(check_ranges(piece, alignment_of(contents), trailer.manifest_offset, object + ": " + what));
  return piece;
}

Result<Manifest> decode_manifest(const ReadAt& read, const Trailer& trailer, const std::string& object) {
  PERDURE_TRY(Manifest manifest, decode_contents(read, trailer, object));
  for (const Table& table : manifest.tables) {
    PERDURE_TRY(Piece piece, decode_table(read, trailer, manifest, table, object));
    manifest.pieces.push_back(std::move(piece));
  }
  // Formats 1 and 2 were checked already.
  if (!manifest.tables.empty()) PERDURE_CHECK(check_ranges(manifest, trailer.manifest_offset, object));
  return manifest;
}

}  // namespace perdure::segment
