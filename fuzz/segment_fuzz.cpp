// Reads any bytes as a segment file. Mode 1: as a manifest behind a right trailer. Mode 2: as a table of format 4.
#include "segment/manifest_encoder.hpp"
#include "segment/reader.hpp"
#include "support/appended_segment.hpp"
#include "support/memory_source.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

void as_file(base::ConstByteSpan input) {
  const test_support::MemorySource source({input.begin(), input.end()});
  const auto defects = segment::verify(source, nullptr);
  const auto manifest = segment::read_manifest(source);
  require(!defects.empty() || manifest.has_value() || manifest.error().code == PERDURE_UNSUPPORTED);
  if (!manifest) return;
  for (const auto& piece : manifest->pieces)
    for (std::size_t i = 0; i < piece.chunks.size(); ++i) {
      require(piece.chunks[i].length <= input.size());  // no length beyond the file is accepted
      Bytes target(piece.chunks[i].length);
      const auto read = segment::read_chunk(source, piece, i, target);
      require(read.has_value() || !defects.empty());
    }
}

Bytes encoded(const segment::Manifest& manifest) {
  Bytes cbor;
  base::CborWriter writer(&cbor);
  segment::put_manifest(writer, manifest);
  return cbor;
}

Bytes table_of(const segment::Piece& piece) {
  Bytes cbor;
  base::CborWriter writer(&cbor);
  segment::put_piece(writer, piece, segment::PieceForm::stored);
  return cbor;
}

void as_table(base::ConstByteSpan input) {
  segment::Trailer trailer;
  trailer.manifest_offset = 1 << 24;
  segment::Manifest contents;
  contents.alignment = 1;
  const auto decoded = [&](base::ConstByteSpan bytes) {
    const auto read = [&](std::uint64_t offset, base::ByteSpan target) -> base::Status {
      const auto part = bytes.subspan(offset - segment::kHeaderBytes, target.size());
      std::copy(part.begin(), part.end(), target.begin());
      return {};
    };
    const segment::Table table{2, segment::kHeaderBytes, bytes.size(), base::hash128(bytes)};
    return segment::decode_table(read, trailer, contents, table, "input");
  };
  const auto piece = decoded(input);
  if (!piece) return;
  const Bytes cbor = table_of(*piece);
  const auto again = decoded(cbor);
  require(again.has_value() && *again == *piece && table_of(*again) == cbor);
}

void as_manifest(base::ConstByteSpan input) {
  segment::Trailer trailer;
  trailer.manifest_offset = 1 << 20;
  trailer.manifest_length = input.size();
  trailer.manifest_hash = base::hash128(input);
  trailer.file_bytes =
      trailer.manifest_offset + base::round_up(input.size() + segment::kTrailerBytes, segment::kAlignment);
  const auto decoded = [&](base::ConstByteSpan bytes) {
    return segment::decode_contents(
        [&](std::uint64_t offset, base::ByteSpan target) -> base::Status {
          const auto part = bytes.subspan(offset - trailer.manifest_offset, target.size());
          std::copy(part.begin(), part.end(), target.begin());
          return {};
        },
        trailer, "input");
  };
  const auto manifest = decoded(input);
  if (!manifest) return;
  const Bytes cbor = encoded(*manifest);
  trailer.manifest_length = cbor.size();
  trailer.manifest_hash = base::hash128(cbor);
  const auto again = decoded(cbor);
  require(again.has_value() && *again == *manifest && encoded(*again) == cbor);
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  if (input.empty()) return as_file(input);
  if (input[0] == std::byte{1}) return as_manifest(input.subspan(1));
  if (input[0] == std::byte{2}) return as_table(input.subspan(1));
  as_file(input.subspan(1));
}

namespace {

void add_seeds_of_format_4(std::vector<Bytes>& list, segment::Manifest manifest) {
  auto& regions = manifest.pieces[0].regions;
  regions[0].attributes = {{"name", std::string("mass")}, {"type", std::string("f8")}, {"unit", std::string("kg")}};
  regions[1].attributes = {{"name", std::string("id")}, {"type", std::string("u1")}};
  for (const std::uint64_t alignment : {1U, 512U})
    list.push_back(with_mode(0, test_support::appended_file(manifest, alignment)));
  auto index = test_support::appended_heading(manifest, 1);
  for (const auto& piece : manifest.pieces) index.tables.push_back({piece.rank, 8192 + piece.rank, 1, {}});
  list.push_back(with_mode(1, encoded(index)));
  if (!manifest.pieces[0].chunks.empty()) {
    segment::ChunkEntry& chunk = manifest.pieces[0].chunks[0];
    chunk.encoding = segment::Encoding::zstd;
    chunk.encoded_length = 100;
    chunk.encoded_hash = chunk.hash;
  }
  list.push_back(with_mode(2, table_of(manifest.pieces[0])));
}

}  // namespace

std::vector<Bytes> seeds() {
  std::vector<Bytes> list;
  const segment::VersionId id{"nbody", 7, {1000, 1}};
  for (std::uint64_t bytes : {0U, 1U, 5000U, 9000U}) {
    auto manifest = test_support::sample_manifest(id, 4, 1, 2, {2, 3}, bytes, 4096);
    list.push_back(with_mode(0, test_support::sample_file(manifest, segment::Tables::always)));
    auto index = manifest;
    segment::lay_out(index, segment::Tables::always);
    list.push_back(with_mode(1, encoded(index)));
    list.push_back(with_mode(0, test_support::sample_file(manifest)));
    list.push_back(with_mode(1, encoded(manifest)));
    add_seeds_of_format_4(list, manifest);
    manifest.pieces[0] = test_support::attributed_piece(manifest.pieces[0]);
    list.push_back(with_mode(0, test_support::sample_file(manifest)));
    list.push_back(with_mode(1, encoded(manifest)));
  }
  list.push_back(with_mode(0, test_support::sample_file(test_support::sample_manifest(id, 1, 0, 1, {}, 0, 4096))));
  list.push_back(with_mode(0, Bytes(8)));
  return list;
}

}  // namespace perdure::fuzz
