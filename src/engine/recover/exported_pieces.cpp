#include "engine/recover/exported_pieces.hpp"

#include <algorithm>

#include "base/field_codec.hpp"

namespace perdure::engine {

std::string ExportedPieces::Piece::wrong() const {
  return places.size() == piece.chunks.size() ? "" : "field 'places' has not one of each block";
}

std::string ExportedPieces::Part::wrong() const {
  const bool known = std::all_of(places.begin(), places.end(),
                                 [this](const auto& place) { return redundancy_set.kept.contains(place.first); });
  return known ? "" : "field 'places' names a block that is not kept";
}

std::string ExportedPieces::wrong() const {
  return address.size() <= 4096 ? "" : "field 'address' has more than 4096 bytes";
}

std::vector<std::byte> encode(const ExportedPieces& exported) { return base::encode_fields(exported); }

base::Result<ExportedPieces> decode_exported_pieces(base::ConstByteSpan bytes) {
  return base::decode_fields<ExportedPieces>(bytes, "exported pieces");
}

}  // namespace perdure::engine
