#include "store/published.hpp"

#include <algorithm>

namespace perdure::store {
namespace {

// Where chunks lie in the file, and who wrote it, may differ: other writers may know other hashes at first.
bool same_content(const segment::Piece& a, const segment::Piece& b) {
  const auto same_chunk = [](const segment::ChunkEntry& x, const segment::ChunkEntry& y) {
    return x.length == y.length && x.hash == y.hash;
  };
  return a.rank == b.rank && a.chunk_bytes == b.chunk_bytes && a.regions == b.regions &&
         std::equal(a.chunks.begin(), a.chunks.end(), b.chunks.begin(), b.chunks.end(), same_chunk);
}

bool same_content(const segment::Manifest& a, const segment::Manifest& b) {
  return a.id == b.id && a.ranks == b.ranks && a.segment_index == b.segment_index &&
         a.segment_count == b.segment_count &&
         std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(),
                    [](const auto& x, const auto& y) { return same_content(x, y); });
}

}  // namespace

base::Status check_published(const segment::ByteSource& published, const segment::ByteSource& mine) {
  auto defects = segment::verify(published, nullptr);
  if (!defects.empty()) return base::fail(std::move(defects.front().error));
  PERDURE_TRY(const auto theirs, segment::read_manifest(published));
  PERDURE_TRY(const auto ours, segment::read_manifest(mine));
  if (same_content(theirs, ours)) return {};
  return base::fail(PERDURE_EXISTS, published.name(),
                    "another writer has published a different segment under this name; it is left as it is",
                    "end engines of earlier launches of this job that still run (perdure top)");
}

}  // namespace perdure::store
