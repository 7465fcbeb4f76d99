#include "segment/chunk_ranges.hpp"

#include <algorithm>

namespace perdure::segment {
namespace {

std::string text_of(const Position& position) {
  const std::string rank = " of rank " + std::to_string(position.rank);
  return position.piece == nullptr ? "the table" + rank : "chunk " + std::to_string(position.index) + rank;
}

/// Returns "" if the place is allowed, else the defect.
std::string misplaced(const Position& position, std::uint64_t alignment, std::uint64_t manifest_offset) {
  const std::string at = ": offset " + std::to_string(position.offset);
  if (position.offset % alignment != 0) return at + " is not a multiple of " + std::to_string(alignment);
  if (position.offset < kHeaderBytes) return at + " overlaps the header";
  if (position.offset > manifest_offset || position.length > manifest_offset - position.offset)
    return at + " and length " + std::to_string(position.length) + " reach beyond the manifest's offset " +
           std::to_string(manifest_offset);
  const std::uint32_t place = position.piece == nullptr ? 0 : position.piece->chunks[position.index].place;
  return place == 0 ? "" : ": place is " + std::to_string(place) + ", in a segment it is 0";
}

void add_chunks(const Piece& piece, std::vector<Position>& all) {
  for (std::size_t i = 0; i < piece.chunks.size(); ++i)
    all.push_back({piece.chunks[i].offset, piece.chunks[i].stored_length(), piece.rank, &piece, i});
}

void sort(std::vector<Position>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Position& a, const Position& b) { return a.offset < b.offset; });
}

base::Status check(const std::vector<Position>& all, std::uint64_t alignment, std::uint64_t manifest_offset,
                   const std::string& object) {
  const Position* previous = nullptr;
  for (const Position& position : all) {
    if (std::string what = misplaced(position, alignment, manifest_offset); !what.empty())
      return base::fail(PERDURE_CORRUPT, object, text_of(position) + what);
    if (previous != nullptr && previous->offset + previous->length > position.offset)
      return base::fail(
          PERDURE_CORRUPT, object,
          text_of(position) + ": offset " + std::to_string(position.offset) + " overlaps " + text_of(*previous));
    previous = &position;
  }
  return {};
}

}  // namespace

std::vector<Position> positions(const Manifest& manifest) {
  std::vector<Position> all;
  for (const Piece& piece : manifest.pieces) add_chunks(piece, all);
  for (const Table& table : manifest.tables) all.push_back({table.offset, table.length, table.rank, nullptr, 0});
  sort(all);
  return all;
}

base::Status check_ranges(const Manifest& manifest, std::uint64_t manifest_offset, const std::string& object) {
  return check(positions(manifest), alignment_of(manifest), manifest_offset, object);
}

std::vector<Position> positions(const Piece& piece) {
  std::vector<Position> all;
  add_chunks(piece, all);
  sort(all);
  return all;
}

base::Status check_ranges(const Piece& piece, std::uint64_t alignment, std::uint64_t manifest_offset,
                          const std::string& object) {
  return check(positions(piece), alignment, manifest_offset, object);
}

}  // namespace perdure::segment
