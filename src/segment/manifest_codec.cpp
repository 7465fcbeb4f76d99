#include "segment/manifest_codec.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/json.hpp"
#include "segment/entry_codec.hpp"
#include "segment/manifest_decoder.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {
namespace {

using base::Json;
using base::Result;
using base::Status;

constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMaxWriterBytes = 256;

tl::unexpected<base::Error> wrong(const std::string& object, std::string cause) {
  return base::fail(PERDURE_CORRUPT, object, std::move(cause));
}

bool is_numbers(const Json& json, std::size_t count) {
  return json.is_array() && json.size() == count &&
         std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_number_unsigned(); });
}

/// It is shown on terminals and in JSON for programs, so only plain text is accepted.
bool is_printable(const std::string& text) {
  return text.size() <= kMaxWriterBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Result<std::pair<std::uint64_t, std::uint64_t>> get_pair(const Json& map, const char* key, const std::string& object) {
  auto found = map.is_object() ? map.find(key) : map.end();
  if (found == map.end() || !is_numbers(*found, 2))
    return wrong(object, std::string("field '") + key + "' is missing or is not two unsigned numbers");
  return std::pair{(*found)[0].get<std::uint64_t>(), (*found)[1].get<std::uint64_t>()};
}

Result<std::uint64_t> get_ranged(const Json& map, const char* key, std::uint64_t least, std::uint64_t most,
                                 const std::string& object) {
  PERDURE_TRY(std::uint64_t value, base::get_u64(map, key, object));
  if (value < least || value > most)
    return wrong(object, std::string("field '") + key + "' is " + std::to_string(value) + ", outside " +
                             std::to_string(least) + " to " + std::to_string(most));
  return value;
}

std::string wrong_regions(const std::vector<RegionEntry>& regions) {
  std::vector<std::int32_t> ids;
  ids.reserve(regions.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const RegionEntry& region = regions[i];
    const auto where = [i] { return "field 'regions': region number " + std::to_string(i); };
    if (region.id < 0) return where() + ": id " + std::to_string(region.id) + " is negative";
    if (region.count != 0 && region.element_bytes > kMaxBytes / region.count)
      return where() + ": element_bytes " + std::to_string(region.element_bytes) + " times count " +
             std::to_string(region.count) + " is not below 2^63";
    if (const auto known = check_attributes(region); !known) return where() + ": " + known.error().cause;
    ids.push_back(region.id);
    if (region.bytes() > kMaxBytes - total) return "field 'regions': their sum is not below 2^63 bytes";
    total += region.bytes();
  }
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
    return "field 'regions': id " + std::to_string(*twice) + " appears twice";
  return {};
}

Result<Piece> nth_piece(const Json& json, std::size_t number, const std::string& object) {
  const auto cbor = base::encode_cbor(json);
  base::CborReader in(cbor, base::kMaxCborItems);
  return take_piece(in, number, object);
}

/// The chunks must be exactly the capture, cut into pieces of chunk_bytes.
std::string wrong_lengths(const Piece& piece) {
  const std::uint64_t total = piece.capture_bytes();
  const std::uint64_t expected = total / piece.chunk_bytes + (total % piece.chunk_bytes != 0 ? 1 : 0);
  if (piece.chunks.size() != expected)
    return "field 'chunks' has " + std::to_string(piece.chunks.size()) + " chunks, " + std::to_string(total) +
           " bytes of regions need " + std::to_string(expected);
  for (std::size_t i = 0; i < piece.chunks.size(); ++i) {
    const std::uint64_t length = std::min(piece.chunk_bytes, total - i * piece.chunk_bytes);
    if (piece.chunks[i].length != length)
      return "field 'chunks': chunk " + std::to_string(i) + " has length " + std::to_string(piece.chunks[i].length) +
             ", its share of the regions is " + std::to_string(length);
  }
  return {};
}

}  // namespace

// The only decoder of chunks and pieces takes CBOR.
Result<ChunkEntry> chunk_from_json(const Json& json, const std::string& where, const std::string& object) {
  const auto cbor = base::encode_cbor(json);
  base::CborReader in(cbor, base::kMaxCborItems);
  return take_chunk(in, where, object);
}

Result<Piece> piece_from_json(const Json& json, const std::string& object) { return nth_piece(json, 0, object); }

Result<std::vector<Piece>> pieces_from_json(const Json& map, std::uint32_t ranks, const std::string& object) {
  PERDURE_TRY(const Json* list, base::get_array(map, "pieces", object));
  std::vector<Piece> pieces;
  for (const Json& item : *list) {
    PERDURE_TRY(Piece piece, nth_piece(item, pieces.size(), object));
    pieces.push_back(std::move(piece));
  }
  if (auto cause = wrong_with(pieces, ranks); !cause.empty()) return wrong(object, std::move(cause));
  return pieces;
}

Json to_json(const Attempt& attempt) { return Json::array({attempt.created_ns, attempt.nonce}); }

Json to_json(const VersionId& id) {
  return Json{{"name", id.name}, {"version", id.version}, {"attempt", to_json(id.attempt)}};
}

Json to_json(const ChunkEntry& chunk) {
  return Json::array({chunk.offset, chunk.length, base::binary(chunk.hash.bytes()), chunk.place});
}

Json to_json(const Piece& piece) {
  Json regions = Json::array();
  for (const RegionEntry& region : piece.regions) {
    Json entry = Json::array({static_cast<std::uint64_t>(region.id), region.element_bytes, region.count});
    if (!region.plain()) {
      entry.push_back(static_cast<std::uint32_t>(region.kind));
      entry.push_back(to_json(region.attributes));
    }
    regions.push_back(std::move(entry));
  }
  Json chunks = Json::array();
  for (const ChunkEntry& chunk : piece.chunks) chunks.push_back(to_json(chunk));
  return Json{{"rank", piece.rank},
              {"chunk_bytes", piece.chunk_bytes},
              {"regions", std::move(regions)},
              {"chunks", std::move(chunks)}};
}

std::uint64_t items_of(const Piece& piece, PieceForm form) {
  constexpr std::uint64_t kOfPiece = 1 + 4 + 2 + 2, kOfRegion = 4, kOfChunk = 5;  // maps, keys, numbers, arrays
  std::uint64_t items = kOfPiece + kOfRegion * piece.regions.size() + kOfChunk * piece.chunks.size();
  if (form == PieceForm::stored) items += 2 * (piece.regions.size() + piece.chunks.size());  // at most so many more
  for (const RegionEntry& region : piece.regions) {
    if (region.plain()) continue;
    items += 2 + 2 * region.attributes.size();  // kind, map, keys and values
    for (const auto& [key, value] : region.attributes)
      if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) items += numbers->size();
  }
  return items;
}

Result<Attempt> attempt_from_json(const Json& json, const std::string& object) {
  if (!is_numbers(json, 2)) return wrong(object, "field 'attempt' is missing or is not two unsigned numbers");
  return Attempt{json[0].get<std::uint64_t>(), json[1].get<std::uint64_t>()};
}

Result<VersionId> version_id_from_json(const Json& json, const std::string& object) {
  PERDURE_TRY(std::string name, base::get_text(json, "name", object));
  if (auto good = check_name(name); !good) return wrong(object, "field 'name' is not allowed: " + good.error().cause);
  PERDURE_TRY(std::uint64_t version, get_ranged(json, "version", 0, kMaxBytes, object));
  PERDURE_TRY(auto attempt, get_pair(json, "attempt", object));
  return VersionId{std::move(name), version, Attempt{attempt.first, attempt.second}};
}

Result<std::uint32_t> rank_from_json(const Json& map, const std::string& object) {
  PERDURE_TRY(const std::uint64_t rank, get_ranged(map, "rank", 0, kMaxCount, object));
  return static_cast<std::uint32_t>(rank);
}

Result<std::uint64_t> chunk_bytes_from_json(const Json& map, const std::string& object) {
  return get_ranged(map, "chunk_bytes", 1, kMaxBytes, object);
}

Result<std::uint64_t> alignment_from_json(const Json& map, const std::string& object) {
  PERDURE_TRY(const std::uint64_t alignment, get_ranged(map, "alignment", 1, kMaxAlignment, object));
  if (std::has_single_bit(alignment)) return alignment;
  return wrong(object, "field 'alignment' is " + std::to_string(alignment) + ", no power of two");
}

Result<Manifest> heading_from_json(const Json& json, const std::string& object) {
  Manifest manifest;
  PERDURE_TRY(manifest.id, version_id_from_json(json, object));
  PERDURE_TRY(std::uint64_t ranks, get_ranged(json, "ranks", 1, kMaxCount, object));
  PERDURE_TRY(auto segment, get_pair(json, "segment", object));
  if (segment.second == 0 || segment.second > kMaxCount || segment.first >= segment.second)
    return wrong(object, "field 'segment': " + std::to_string(segment.first) + " of " + std::to_string(segment.second) +
                             " is impossible");
  if (json.contains("alignment")) {
    PERDURE_TRY(manifest.alignment, alignment_from_json(json, object));
  }
  PERDURE_TRY(manifest.writer, base::get_text(json, "writer", object));
  if (!is_printable(manifest.writer)) return wrong(object, "field 'writer' is not at most 256 printable characters");
  manifest.ranks = static_cast<std::uint32_t>(ranks);
  manifest.segment_index = static_cast<std::uint32_t>(segment.first);
  manifest.segment_count = static_cast<std::uint32_t>(segment.second);
  return manifest;
}

std::string VersionId::wrong() const {
  if (auto good = check_name(name); !good) return "field 'name' is not allowed: " + good.error().cause;
  return version <= kMaxBytes ? "" : "field 'version' is not below 2^63";
}

std::string Piece::wrong() const {
  if (rank > kMaxCount) return "field 'rank' is not below 2^31";
  if (chunk_bytes == 0 || chunk_bytes > kMaxBytes) return "field 'chunk_bytes' is not 1 to 2^63 - 1";
  auto cause = wrong_regions(regions);
  return cause.empty() ? wrong_lengths(*this) : cause;
}

namespace {

template <class OfRank>
std::string wrong_ranks(const std::vector<OfRank>& list, std::uint32_t ranks) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::uint32_t rank = list[i].rank;
    if (rank >= ranks)
      return "field 'rank' is " + std::to_string(rank) + ", the version has " + std::to_string(ranks) + " ranks";
    if (i > 0 && rank <= list[i - 1].rank)
      return "field 'pieces': rank " + std::to_string(rank) + " follows rank " + std::to_string(list[i - 1].rank) +
             ", not ascending";
  }
  return {};
}

}  // namespace

std::string wrong_with(const std::vector<Piece>& pieces, std::uint32_t ranks) { return wrong_ranks(pieces, ranks); }
std::string wrong_with(const std::vector<Table>& tables, std::uint32_t ranks) { return wrong_ranks(tables, ranks); }

Status check_name(std::string_view name) {
  auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  const bool good = !name.empty() && name.size() <= 128 && alphanumeric(name.front()) &&
                    std::all_of(name.begin(), name.end(),
                                [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
  if (good) return {};
  // The offending name may be long or unprintable: it is not repeated in the message.
  return base::fail(PERDURE_INVALID_ARGUMENT, "name of a checkpoint (" + std::to_string(name.size()) + " characters)",
                    "a name has 1 to 128 of the characters A-Z a-z 0-9 . _ - and begins with a letter or a digit",
                    "choose another name");
}

}  // namespace perdure::segment
