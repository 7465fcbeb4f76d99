#include "segment/manifest_encoder.hpp"

#include "segment/own_fields.hpp"

namespace perdure::segment {
namespace {

using base::CborWriter;

struct PutValue {
  CborWriter& out;
  void operator()(bool value) const { out.boolean(value); }
  void operator()(std::int64_t value) const { out.number(value); }
  void operator()(const std::string& value) const { out.text(value); }
  void operator()(const std::vector<std::byte>& value) const { out.bytes(value); }
  void operator()(const std::vector<std::int64_t>& value) const {
    out.array(value.size());
    for (const std::int64_t number : value) out.number(number);
  }
};

void put_region(CborWriter& out, const RegionEntry& region, PieceForm form) {
  out.array(region.plain() ? 3 : form == PieceForm::placed ? 5 : 7);
  out.unsigned_number(static_cast<std::uint64_t>(region.id));
  out.unsigned_number(region.element_bytes);
  out.unsigned_number(region.count);
  if (region.plain()) return;
  out.unsigned_number(static_cast<std::uint32_t>(region.kind));
  const OwnFields own = form == PieceForm::placed ? OwnFields() : own_fields(region);
  if (form == PieceForm::stored) {
    out.text(own.name);
    out.text(own.type);
  }
  out.map(region.attributes.size() - own.count());
  for (const auto& [key, value] : region.attributes) {
    if (own.has(key)) continue;
    out.text(key);
    std::visit(PutValue{out}, value);
  }
}

void put_chunk(CborWriter& out, const ChunkEntry& chunk, PieceForm form) {
  const bool encoded = form == PieceForm::stored && chunk.encoding != Encoding::none;
  out.array(form == PieceForm::placed ? 4 : encoded ? 6 : 3);
  out.unsigned_number(chunk.offset);
  out.unsigned_number(chunk.length);
  out.bytes(chunk.hash.bytes());
  if (form == PieceForm::placed) out.unsigned_number(chunk.place);
  if (!encoded) return;
  out.unsigned_number(static_cast<std::uint32_t>(chunk.encoding));
  out.unsigned_number(chunk.encoded_length);
  out.bytes(chunk.encoded_hash.bytes());
}

void put_pair(CborWriter& out, std::string_view key, std::uint64_t first, std::uint64_t second) {
  out.text(key);
  out.array(2);
  out.unsigned_number(first);
  out.unsigned_number(second);
}

}  // namespace

void put_piece(CborWriter& out, const Piece& piece, PieceForm form) {
  out.map(4);
  out.text("chunk_bytes");
  out.unsigned_number(piece.chunk_bytes);
  out.text("chunks");
  out.array(piece.chunks.size());
  for (const ChunkEntry& chunk : piece.chunks) put_chunk(out, chunk, form);
  out.text("rank");
  out.unsigned_number(piece.rank);
  out.text("regions");
  out.array(piece.regions.size());
  for (const RegionEntry& region : piece.regions) put_region(out, region, form);
}

void put_manifest(CborWriter& out, const Manifest& manifest) {
  const bool with_tables = manifest.alignment || !manifest.tables.empty();
  out.map(manifest.alignment ? 8 : 7);
  if (manifest.alignment) {
    out.text("alignment");
    out.unsigned_number(*manifest.alignment);
  }
  put_pair(out, "attempt", manifest.id.attempt.created_ns, manifest.id.attempt.nonce);
  out.text("name");
  out.text(manifest.id.name);
  if (!with_tables) {
    out.text("pieces");
    out.array(manifest.pieces.size());
    for (const Piece& piece : manifest.pieces) put_piece(out, piece);
  }
  out.text("ranks");
  out.unsigned_number(manifest.ranks);
  put_pair(out, "segment", manifest.segment_index, manifest.segment_count);
  if (with_tables) {
    out.text("tables");
    out.array(manifest.tables.size());
    for (const Table& table : manifest.tables) {
      out.array(4);
      out.unsigned_number(table.rank);
      out.unsigned_number(table.offset);
      out.unsigned_number(table.length);
      out.bytes(table.hash.bytes());
    }
  }
  out.text("version");
  out.unsigned_number(manifest.id.version);
  out.text("writer");
  out.text(manifest.writer);
}

}  // namespace perdure::segment
