#include "segment/manifest_decoder.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/json.hpp"
#include "segment/entry_codec.hpp"
#include "segment/manifest_codec.hpp"
#include "segment/own_fields.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {
namespace {

using base::CborReader;
using base::Json;
using base::Result;
using base::Status;
using Type = CborReader::Type;

constexpr std::uint64_t kLeastRegion = 4, kLeastChunk = 20, kLeastTable = 21, kLeastPiece = 30;  // bytes of each

tl::unexpected<base::Error> malformed(const std::string& object, std::string cause) {
  return base::fail(PERDURE_CORRUPT, object, std::move(cause));
}

/// Takes a number, a truth value, a text, a byte string or a short array of numbers. Skips everything else, and returns
/// null.
Json take_small(CborReader& in) {
  switch (in.type()) {
    case Type::unsigned_number:
      return in.unsigned_number();
    case Type::negative_number:
      return in.number();
    case Type::boolean:
      return in.boolean();
    case Type::text:
      return in.text();
    case Type::bytes:
      return base::binary(in.bytes());
    case Type::array:
      break;
    default:
      return in.skip(), Json();
  }
  const std::uint64_t count = in.array();
  Json list = count <= kMaxAttributeItems ? Json::array() : Json();
  for (std::uint64_t i = 0; i < count && in.good(); ++i) {
    const Type type = in.type();
    if (list.is_array() && type == Type::unsigned_number)
      list.push_back(in.unsigned_number());
    else if (list.is_array() && type == Type::negative_number)
      list.push_back(in.number());
    else
      in.skip(), list = Json();
  }
  return list;
}

/// Takes a map whose keys ascend: take(key) takes the value of one.
template <class Take>
Status take_map(CborReader& in, const std::string& object, const Take& take) {
  std::string previous;
  const std::uint64_t count = in.map();
  for (std::uint64_t i = 0; i < count && in.good(); ++i) {
    std::string key = in.text();
    if (in.good() && i > 0 && key <= previous) return malformed(object, "its keys do not ascend");
    if (in.good()) PERDURE_CHECK(take(key));
    previous = std::move(key);
  }
  return in.check(object);
}

/// Takes an array: take(number) takes one item, which has at least `least_bytes` bytes.
template <class List, class Take>
Status take_list(CborReader& in, const char* key, std::uint64_t least_bytes, List& list, const std::string& object,
                 const Take& take) {
  if (in.type() != Type::array)
    return malformed(object, std::string("field '") + key + "' is missing or is not an array");
  const std::uint64_t count = in.array();
  constexpr std::uint64_t kMostReserved = 40 * base::MiB / sizeof(typename List::value_type);
  list.reserve(std::min({count, in.left() / least_bytes, kMostReserved}));
  for (std::uint64_t i = 0; i < count && in.good(); ++i) {
    PERDURE_TRY(auto item, take(i));
    list.push_back(std::move(item));
  }
  return in.check(object);
}

/// Takes the next `count` items if they are unsigned numbers.
template <std::size_t N>
bool take_numbers(CborReader& in, std::array<std::uint64_t, N>& numbers) {
  for (std::uint64_t& number : numbers) {
    if (in.type() != Type::unsigned_number) return false;
    number = in.unsigned_number();
  }
  return in.good();
}

/// Takes a manifest's fields besides its pieces; skips unknown ones.
void take_heading(CborReader& in, const std::string& key, Json& small) {
  constexpr std::array<std::string_view, 7> kKnown{"alignment", "attempt", "name",  "ranks",
                                                   "segment",   "version", "writer"};
  if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end()) return in.skip();
  small[key] = take_small(in);
}

std::optional<base::Hash128> take_hash(CborReader& in) {
  const auto raw = in.type() == Type::bytes ? in.bytes() : std::vector<std::byte>();
  std::array<std::byte, 16> hash{};
  if (raw.size() != hash.size()) return std::nullopt;
  std::copy(raw.begin(), raw.end(), hash.begin());
  return base::Hash128::from_bytes(hash);
}

Result<Attributes> take_attributes(CborReader& in, const std::string& where, const std::string& object) {
  Json map;
  if (in.type() == Type::map) {
    map = Json::object();
    PERDURE_CHECK(take_map(in, object, [&](const std::string& key) -> Status {
      if (map.size() > kMaxAttributes) return in.skip(), Status();
      map[key] = take_small(in);
      return {};
    }));
  } else {
    in.skip();
  }
  return attributes_from_json(map, where, object);
}

Result<RegionEntry> take_region(CborReader& in, std::size_t number, const std::string& object, PieceForm form) {
  // Makes the text only for errors: there may be a million regions.
  const auto where = [number] { return "field 'regions': region number " + std::to_string(number); };
  const std::uint64_t items = in.type() == Type::array ? in.array() : 0;
  std::array<std::uint64_t, 3> numbers{};
  const bool placed = form == PieceForm::placed;
  if ((items != 3 && items != (placed ? 5 : 7)) || !take_numbers(in, numbers)) {
    PERDURE_CHECK(in.check(object));
    return malformed(object, where() + " is not [id, element_bytes, count] with or without " +
                                 (placed ? "[kind, attributes]" : "[kind, name, element type, attributes]"));
  }
  if (numbers[0] > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
    return malformed(object, where() + ": id " + std::to_string(numbers[0]) + " is not below 2^31");
  RegionEntry region{static_cast<std::int32_t>(numbers[0]), numbers[1], numbers[2]};
  if (items == 3) return region;
  const std::string named = where() + " (id " + std::to_string(numbers[0]) + ")";
  PERDURE_TRY(region.kind, entry_kind_from_json(take_small(in), named, object));
  const std::string name = placed ? "" : in.text(), type = placed ? "" : in.text();
  if (!in.good()) PERDURE_CHECK(in.check(object + ": " + named));
  PERDURE_TRY(region.attributes, take_attributes(in, named, object));
  PERDURE_CHECK(in.check(object));
  if (auto cause = add_own_fields(region, name, type); !cause.empty()) return malformed(object, named + " " + cause);
  if (region.plain()) return malformed(object, named + " is plain memory, but not written so");
  return region;
}

Result<Table> take_table(CborReader& in, std::size_t number, const std::string& object) {
  std::array<std::uint64_t, 3> numbers{};
  const bool shaped = in.type() == Type::array && in.array() == 4 && take_numbers(in, numbers);
  const auto hash = shaped ? take_hash(in) : std::nullopt;
  PERDURE_CHECK(in.check(object));
  const std::string where = "field 'tables': table " + std::to_string(number);
  if (!hash) return malformed(object, where + " is not [rank, offset, length, hash]");
  if (numbers[0] > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
    return malformed(object, where + ": rank " + std::to_string(numbers[0]) + " is not below 2^31");
  if (numbers[2] == 0 || numbers[2] > kMaxManifestBytes)
    return malformed(object, where + ": length " + std::to_string(numbers[2]) + " is not between 1 and 2^30");
  return Table{static_cast<std::uint32_t>(numbers[0]), numbers[1], numbers[2], *hash};
}

}  // namespace

Result<ChunkEntry> take_chunk(CborReader& in, const std::string& where, const std::string& object, PieceForm form) {
  const bool placed = form == PieceForm::placed;
  const auto refuse = [&](const char* what) -> Result<ChunkEntry> {
    PERDURE_CHECK(in.check(object));
    return malformed(object, where + what);
  };
  const char* shape = placed ? " is not [offset, length, hash, place]"
                             : " is not [offset, length, hash] with or without [encoding, stored length, stored hash]";
  std::array<std::uint64_t, 2> range{};
  std::array<std::uint64_t, 1> number{};
  const std::uint64_t items = in.type() == Type::array ? in.array() : 0;
  if (!(placed ? items == 4 : items == 3 || items == 6) || !take_numbers(in, range)) return refuse(shape);
  const auto hash = take_hash(in);
  if (!hash) return refuse(": its hash is not a byte string of 16 bytes");
  ChunkEntry chunk{range[0], range[1], *hash};
  if (items == 3) return chunk;
  if (!take_numbers(in, number)) return refuse(shape);
  if (number[0] > std::numeric_limits<std::uint32_t>::max())
    return malformed(object,
                     where + (placed ? ": place " : ": encoding ") + std::to_string(number[0]) + " is not below 2^32");
  if (placed) return chunk.place = static_cast<std::uint32_t>(number[0]), chunk;
  chunk.encoding = static_cast<Encoding>(number[0]);
  if (chunk.encoding == Encoding::none) return refuse(": it is stored as it is, but not written so");
  if (!take_numbers(in, number)) return refuse(shape);
  chunk.encoded_length = number[0];
  if (chunk.encoded_length == 0) return refuse(": its stored length is 0");
  const auto stored_hash = take_hash(in);
  if (!stored_hash) return refuse(": its stored hash is not a byte string of 16 bytes");
  chunk.encoded_hash = *stored_hash;
  return chunk;
}

Result<Piece> take_piece(CborReader& in, std::size_t number, const std::string& object, PieceForm form) {
  Piece piece;
  Json small = Json::object();
  bool regions = false, chunks = false;
  std::string whose = object + ": piece number " + std::to_string(number);
  if (in.type() != Type::map) return malformed(whose, "it is not a map");
  PERDURE_CHECK(take_map(in, whose, [&](const std::string& key) -> Status {
    if (key == "rank") {
      small[key] = take_small(in);
      PERDURE_TRY(piece.rank, rank_from_json(small, object));
      whose = object + ": rank " + std::to_string(piece.rank);
      return {};
    }
    if (key == "chunk_bytes") return small[key] = take_small(in), Status();
    if (key == "chunks") {
      chunks = true;
      return take_list(in, "chunks", kLeastChunk, piece.chunks, whose, [&](std::size_t i) {
        return take_chunk(in, "field 'chunks': chunk " + std::to_string(i), whose, form);
      });
    }
    if (key != "regions") return in.skip(), Status();
    regions = true;
    return take_list(in, "regions", kLeastRegion, piece.regions, whose,
                     [&](std::size_t i) { return take_region(in, i, whose, form); });
  }));
  PERDURE_TRY(piece.rank, rank_from_json(small, object));
  PERDURE_TRY(piece.chunk_bytes, chunk_bytes_from_json(small, whose));
  for (const auto& [key, there] : {std::pair("regions", regions), std::pair("chunks", chunks)})
    if (!there) return malformed(whose, std::string("field '") + key + "' is missing or is not an array");
  if (auto cause = piece.wrong(); !cause.empty()) return malformed(whose, std::move(cause));
  return piece;
}

Result<Manifest> take_manifest(CborReader& in, const std::string& object) {
  Json small = Json::object();
  std::optional<std::vector<Piece>> pieces;
  std::optional<std::vector<Table>> tables;
  if (in.type() != Type::map) return malformed(object, "the manifest is not a map");
  PERDURE_CHECK(take_map(in, object, [&](const std::string& key) -> Status {
    if (key == "tables")
      return take_list(in, "tables", kLeastTable, tables.emplace(), object,
                       [&](std::size_t i) { return take_table(in, i, object); });
    if (key != "pieces") return take_heading(in, key, small), Status();
    return take_list(in, "pieces", kLeastPiece, pieces.emplace(), object,
                     [&](std::size_t i) { return take_piece(in, i, object); });
  }));
  PERDURE_CHECK(in.end(object));
  PERDURE_TRY(Manifest manifest, heading_from_json(small, object));
  if (!pieces && !tables) return malformed(object, "field 'pieces' is missing or is not an array");
  if (pieces && tables) return malformed(object, "it has both pieces and tables");
  if (manifest.alignment && !tables) return malformed(object, "it has an alignment, but no tables");
  if (pieces) manifest.pieces = std::move(*pieces);
  if (tables) manifest.tables = std::move(*tables);
  if (tables && manifest.tables.empty() && !manifest.alignment) return malformed(object, "field 'tables' is empty");
  auto cause = wrong_with(manifest.pieces, manifest.ranks);
  if (cause.empty()) cause = wrong_with(manifest.tables, manifest.ranks);
  if (!cause.empty()) return malformed(object, std::move(cause));
  return manifest;
}

}  // namespace perdure::segment
