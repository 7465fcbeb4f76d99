#include "store/published.hpp"

#include <algorithm>

namespace perdure::store {
namespace {

enum class Hashes { same, unknown };

// Chunks may lie elsewhere in the file, and another writer may have written it: other writers may know other hashes at
// first.
bool same_content(const segment::Piece& a, const segment::Piece& b, Hashes hashes) {
  const auto same_chunk = [hashes](const segment::ChunkEntry& x, const segment::ChunkEntry& y) {
    return x.length == y.length && (hashes == Hashes::unknown || x.hash == y.hash);
  };
  return a.rank == b.rank && a.chunk_bytes == b.chunk_bytes && a.regions == b.regions &&
         std::equal(a.chunks.begin(), a.chunks.end(), b.chunks.begin(), b.chunks.end(), same_chunk);
}

bool same_content(const segment::Manifest& a, const segment::Manifest& b, Hashes hashes) {
  return a.id == b.id && a.ranks == b.ranks && a.segment_index == b.segment_index &&
         a.segment_count == b.segment_count &&
         std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(),
                    [hashes](const auto& x, const auto& y) { return same_content(x, y, hashes); });
}

base::Status check_whole(const segment::ByteSource& published) {
  auto defects = segment::verify(published, nullptr);
  return defects.empty() ? base::Status() : base::fail(std::move(defects.front().error));
}

base::Status check_same(const segment::ByteSource& published, const segment::Manifest& ours, Hashes hashes) {
  PERDURE_TRY(const auto theirs, segment::read_manifest(published));
  if (same_content(theirs, ours, hashes)) return {};
  return base::fail(PERDURE_EXISTS, published.name(),
                    "another writer has published a different segment under this name; it is left as it is",
                    "end engines of earlier launches of this job that still run (perdure top)");
}

}  // namespace

base::Status check_published(const segment::ByteSource& published, const segment::ByteSource& mine) {
  PERDURE_CHECK(check_whole(published));
  PERDURE_TRY(const auto ours, segment::read_manifest(mine));
  return check_same(published, ours, Hashes::same);
}

base::Status check_published(const segment::ByteSource& published, const segment::Manifest& described) {
  PERDURE_CHECK(check_whole(published));
  return check_same(published, described, Hashes::unknown);
}

}  // namespace perdure::store
