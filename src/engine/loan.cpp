#include "engine/loan.hpp"

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "catalog/protection_codec.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::engine {
namespace {

using base::Json;

const std::string kLoan = "loan";
constexpr std::size_t kMostNameBytes = 4096;

Json place_to_json(const std::optional<BlockPlace>& place) {
  if (!place) return nullptr;
  return Json::array({base::binary(place->memory), place->offset});
}

base::Result<std::optional<BlockPlace>> place_from_json(const Json& json) {
  if (json.is_null()) return std::optional<BlockPlace>();
  if (!json.is_array() || json.size() != 2 || !json[1].is_number_unsigned())
    return base::fail(PERDURE_CORRUPT, kLoan, "field 'places': an item is not [memory, offset]");
  BlockPlace place;
  PERDURE_TRY(place.memory, base::binary_of(json[0], kMostNameBytes, "field 'places': a memory", kLoan));
  place.offset = json[1].get<std::uint64_t>();
  return std::optional(std::move(place));
}

base::Result<std::vector<std::optional<BlockPlace>>> places_from_json(const Json& json, std::size_t count) {
  PERDURE_TRY(const Json* list, base::get_array(json, "places", kLoan));
  if (list->size() != count) return base::fail(PERDURE_CORRUPT, kLoan, "field 'places' has not one of each block");
  std::vector<std::optional<BlockPlace>> places;
  for (const Json& item : *list) {
    PERDURE_TRY(auto place, place_from_json(item));
    places.push_back(std::move(place));
  }
  return places;
}

base::Result<Loan::Piece> piece_of(const Json& json) {
  Loan::Piece lent;
  if (!json.is_object() || !json.contains("piece"))
    return base::fail(PERDURE_CORRUPT, kLoan, "field 'pieces': an item has no piece");
  PERDURE_TRY(lent.piece, segment::piece_from_json(json["piece"], kLoan));
  PERDURE_TRY(lent.places, places_from_json(json, lent.piece.chunks.size()));
  return lent;
}

base::Result<Loan::Part> part_of(const Json& json) {
  Loan::Part part;
  if (!json.is_object() || !json.contains("record"))
    return base::fail(PERDURE_CORRUPT, kLoan, "field 'parts': an item has no record");
  PERDURE_TRY(auto record, catalog::protect_from_json(json["record"], kLoan));
  part.protection = std::move(record.protection);
  PERDURE_TRY(auto places, places_from_json(json, part.protection.kept.size()));
  std::size_t i = 0;
  for (const auto& [name, chunk] : part.protection.kept)
    if (auto& place = places[i++]) part.places[name] = std::move(*place);
  return part;
}

}  // namespace

std::vector<std::byte> encode(const Loan& loan) {
  Json pieces = Json::array(), parts = Json::array();
  for (const auto& lent : loan.pieces) {
    Json places = Json::array();
    for (const auto& place : lent.places) places.push_back(place_to_json(place));
    pieces.push_back({{"piece", segment::to_json(lent.piece)}, {"places", std::move(places)}});
  }
  for (const auto& part : loan.parts) {
    Json places = Json::array();
    for (const auto& [name, chunk] : part.protection.kept) {
      const auto place = part.places.find(name);
      places.push_back(place == part.places.end() ? Json(nullptr) : place_to_json(place->second));
    }
    parts.push_back(
        {{"record", catalog::to_json(catalog::ProtectRecord{part.protection})}, {"places", std::move(places)}});
  }
  return base::encode_cbor(
      {{"address", base::binary(loan.address)}, {"pieces", std::move(pieces)}, {"parts", std::move(parts)}});
}

base::Result<Loan> decode_loan(base::ConstByteSpan bytes) {
  PERDURE_TRY(const Json json, base::decode_cbor(bytes, kLoan));
  if (!json.is_object() || !json.contains("address"))
    return base::fail(PERDURE_CORRUPT, kLoan, "field 'address' is missing");
  Loan loan;
  PERDURE_TRY(loan.address, base::binary_of(json["address"], kMostNameBytes, "field 'address'", kLoan));
  PERDURE_TRY(const Json* pieces, base::get_array(json, "pieces", kLoan));
  for (const Json& item : *pieces) {
    PERDURE_TRY(auto piece, piece_of(item));
    loan.pieces.push_back(std::move(piece));
  }
  PERDURE_TRY(const Json* parts, base::get_array(json, "parts", kLoan));
  for (const Json& item : *parts) {
    PERDURE_TRY(auto part, part_of(item));
    loan.parts.push_back(std::move(part));
  }
  return loan;
}

}  // namespace perdure::engine
