#include "segment/manifest_codec.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "segment/entry_codec.hpp"

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

/// It ends up on terminals and in JSON for programs, so nothing but plain text is let in.
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

Result<RegionEntry> region_from_json(const Json& json, std::size_t number, const std::string& object) {
  const std::string where = "field 'regions': region number " + std::to_string(number);
  if (!json.is_array() || (json.size() != 3 && json.size() != 5) ||
      !std::all_of(json.begin(), json.begin() + 3, [](const Json& item) { return item.is_number_unsigned(); }))
    return wrong(object, where + " is not [id, element_bytes, count] with or without [kind, attributes]");
  const auto id = json[0].get<std::uint64_t>();
  if (id > kMaxCount) return wrong(object, where + ": id " + std::to_string(id) + " is not below 2^31");
  RegionEntry region{static_cast<std::int32_t>(id), json[1].get<std::uint64_t>(), json[2].get<std::uint64_t>()};
  if (json.size() == 5) {
    const std::string named = where + " (id " + std::to_string(id) + ")";
    PERDURE_TRY(region.kind, entry_kind_from_json(json[3], named, object));
    PERDURE_TRY(region.attributes, attributes_from_json(json[4], named, object));
    if (region.plain()) return wrong(object, named + " is plain memory, but not written so");
  }
  return region;
}

Result<std::vector<RegionEntry>> regions_from_json(const Json& map, const std::string& object) {
  PERDURE_TRY(const Json* list, base::get_array(map, "regions", object));
  std::vector<RegionEntry> regions;
  for (const Json& item : *list) {
    PERDURE_TRY(RegionEntry region, region_from_json(item, regions.size(), object));
    regions.push_back(region);
  }
  return regions;
}

std::string wrong_regions(const std::vector<RegionEntry>& regions) {
  std::set<std::int32_t> ids;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const RegionEntry& region = regions[i];
    const std::string where = "field 'regions': region number " + std::to_string(i);
    if (region.id < 0) return where + ": id " + std::to_string(region.id) + " is negative";
    if (region.count != 0 && region.element_bytes > kMaxBytes / region.count)
      return where + ": element_bytes " + std::to_string(region.element_bytes) + " times count " +
             std::to_string(region.count) + " is not below 2^63";
    if (const auto known = check_attributes(region); !known) return where + ": " + known.error().cause;
    if (!ids.insert(region.id).second) return "field 'regions': id " + std::to_string(region.id) + " appears twice";
    if (region.bytes() > kMaxBytes - total) return "field 'regions': their sum is not below 2^63 bytes";
    total += region.bytes();
  }
  return {};
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

Result<ChunkEntry> chunk_from_json(const Json& json, const std::string& where, const std::string& object) {
  if (!json.is_array() || json.size() != 4) return wrong(object, where + " is not [offset, length, hash, place]");
  for (std::size_t i : {0U, 1U, 3U})
    if (!json[i].is_number_unsigned()) return wrong(object, where + " is not [offset, length, hash, place]");
  if (!json[2].is_binary() || json[2].get_binary().size() != 16)
    return wrong(object, where + ": its hash is not a byte string of 16 bytes");
  const auto place = json[3].get<std::uint64_t>();
  if (place > std::numeric_limits<std::uint32_t>::max())
    return wrong(object, where + ": place " + std::to_string(place) + " is not below 2^32");
  std::array<std::byte, 16> hash{};
  std::transform(json[2].get_binary().begin(), json[2].get_binary().end(), hash.begin(),
                 [](std::uint8_t value) { return std::byte{value}; });
  return ChunkEntry{json[0].get<std::uint64_t>(), json[1].get<std::uint64_t>(), base::Hash128::from_bytes(hash),
                    static_cast<std::uint32_t>(place)};
}

Result<std::vector<Piece>> pieces_from_json(const Json& map, std::uint32_t ranks, const std::string& object) {
  PERDURE_TRY(const Json* list, base::get_array(map, "pieces", object));
  std::vector<Piece> pieces;
  for (const Json& item : *list) {
    PERDURE_TRY(Piece piece, piece_from_json(item, object));
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
  const auto bytes = chunk.hash.bytes();
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  Json hash = Json::binary(std::vector<std::uint8_t>(first, first + bytes.size()));
  return Json::array({chunk.offset, chunk.length, std::move(hash), chunk.place});
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

Json to_json(const Manifest& manifest) {
  Json json = to_json(manifest.id);
  json["ranks"] = manifest.ranks;
  json["segment"] = Json::array({manifest.segment_index, manifest.segment_count});
  json["writer"] = manifest.writer;
  Json pieces = Json::array();
  for (const Piece& piece : manifest.pieces) pieces.push_back(to_json(piece));
  json["pieces"] = std::move(pieces);
  return json;
}

std::uint64_t items_of(const Piece& piece) {
  constexpr std::uint64_t kOfPiece = 1 + 4 + 2 + 2, kOfRegion = 4, kOfChunk = 5;  // maps, keys, numbers, arrays
  std::uint64_t items = kOfPiece + kOfRegion * piece.regions.size() + kOfChunk * piece.chunks.size();
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

Result<Piece> piece_from_json(const Json& json, const std::string& object) {
  Piece piece;
  PERDURE_TRY(std::uint64_t rank, get_ranged(json, "rank", 0, kMaxCount, object));
  piece.rank = static_cast<std::uint32_t>(rank);
  const std::string whose = object + ": rank " + std::to_string(rank);
  PERDURE_TRY(piece.chunk_bytes, get_ranged(json, "chunk_bytes", 1, kMaxBytes, whose));
  PERDURE_TRY(piece.regions, regions_from_json(json, whose));
  PERDURE_TRY(const Json* chunks, base::get_array(json, "chunks", whose));
  for (const Json& item : *chunks) {
    PERDURE_TRY(ChunkEntry chunk,
                chunk_from_json(item, "field 'chunks': chunk " + std::to_string(piece.chunks.size()), whose));
    piece.chunks.push_back(chunk);
  }
  if (auto cause = piece.wrong(); !cause.empty()) return wrong(whose, std::move(cause));
  return piece;
}

Result<Manifest> manifest_from_json(const Json& json, const std::string& object) {
  Manifest manifest;
  PERDURE_TRY(manifest.id, version_id_from_json(json, object));
  PERDURE_TRY(std::uint64_t ranks, get_ranged(json, "ranks", 1, kMaxCount, object));
  PERDURE_TRY(auto segment, get_pair(json, "segment", object));
  if (segment.second == 0 || segment.second > kMaxCount || segment.first >= segment.second)
    return wrong(object, "field 'segment': " + std::to_string(segment.first) + " of " + std::to_string(segment.second) +
                             " is impossible");
  PERDURE_TRY(manifest.writer, base::get_text(json, "writer", object));
  if (!is_printable(manifest.writer)) return wrong(object, "field 'writer' is not at most 256 printable characters");
  manifest.ranks = static_cast<std::uint32_t>(ranks);
  manifest.segment_index = static_cast<std::uint32_t>(segment.first);
  manifest.segment_count = static_cast<std::uint32_t>(segment.second);
  PERDURE_TRY(manifest.pieces, pieces_from_json(json, manifest.ranks, object));
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

std::string wrong_with(const std::vector<Piece>& pieces, std::uint32_t ranks) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint32_t rank = pieces[i].rank;
    if (rank >= ranks)
      return "field 'rank' is " + std::to_string(rank) + ", the version has " + std::to_string(ranks) + " ranks";
    if (i > 0 && rank <= pieces[i - 1].rank)
      return "field 'pieces': rank " + std::to_string(rank) + " follows rank " + std::to_string(pieces[i - 1].rank) +
             ", not ascending";
  }
  return {};
}

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
