#include "plan/resharding.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace perdure::plan {
namespace {

using array::Box;
using array::Strided;

/// The bytes of the box, counted from its first one, that lie in the chunk; may be empty.
struct Interval {
  std::uint64_t first = 0, last = 0;
};
Interval in_chunk(const StoredBox& stored, std::uint64_t element_bytes, const StoredCapture& capture,
                  std::uint64_t chunk) {
  const std::uint64_t begin = chunk * capture.chunk_bytes;
  const std::uint64_t end = begin + std::min(capture.chunk_bytes, capture.bytes - begin);
  const std::uint64_t box_end = stored.at + stored.box.elements() * element_bytes;
  if (begin >= box_end || end <= stored.at) return {};
  return {std::max(begin, stored.at) - stored.at, std::min(end, box_end) - stored.at};
}

// Visits the chunks of the capture that have bytes of `shared`: from the first to the last one.
void each_chunk(const StoredBox& stored, const Box& shared, std::uint64_t element_bytes, const StoredCapture& capture,
                const std::function<void(std::uint64_t)>& take) {
  const Strided lies = array::packed(stored.box, element_bytes, static_cast<std::int64_t>(stored.at));
  array::Index last_element{};
  for (unsigned d = 0; d < shared.dimensions; ++d) last_element[d] = shared.end[d] - 1;
  const auto first = static_cast<std::uint64_t>(lies.at(shared.begin));
  const auto last = static_cast<std::uint64_t>(lies.at(last_element)) + element_bytes - 1;
  const Box bytes = array::in_bytes(stored.box, element_bytes), wanted = array::in_bytes(shared, element_bytes);
  for (std::uint64_t chunk = first / capture.chunk_bytes; chunk <= last / capture.chunk_bytes; ++chunk) {
    const Interval part = in_chunk(stored, element_bytes, capture, chunk);
    const auto parts = array::between(bytes, part.first, part.last);
    if (std::any_of(parts.begin(), parts.end(),
                    [&](const Box& box) { return array::intersection(box, wanted).has_value(); }))
      take(chunk);
  }
}

}  // namespace

StoredArray::StoredArray(std::uint64_t element_bytes, std::vector<StoredBox> stored)
    : element_bytes_(element_bytes), stored_(std::move(stored)), tree_(boxes()) {}

void StoredArray::meeting(const Box& wanted, const std::function<void(const StoredBox&, const Box&)>& found) const {
  tree_.meeting(boxes(), wanted,
                [&](std::size_t number) { found(stored_[number], *array::intersection(stored_[number].box, wanted)); });
}

array::Cover cover(const StoredArray& array, const Box& wanted, std::size_t most_overlaps) {
  std::vector<array::Owned> owned;
  array.meeting(wanted, [&](const StoredBox& stored, const Box& shared) { owned.push_back({shared, stored.rank}); });
  return array::cover(wanted, owned, most_overlaps);
}

std::vector<ChunkReading> readings(const std::vector<StoredArray>& arrays,
                                   const std::vector<std::vector<WantedBox>>& wanted, const StoredCaptures& captures) {
  std::map<StoredChunk, std::set<std::uint32_t>> users;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    for (const WantedBox& want : wanted[i])
      arrays[i].meeting(want.memory.box, [&](const StoredBox& stored, const Box& shared) {
        each_chunk(stored, shared, arrays[i].element_bytes(), captures.at(stored.rank), [&](std::uint64_t chunk) {
          users[{stored.rank, chunk}].insert(want.rank);
        });
      });
  std::vector<ChunkReading> all;
  for (const auto& [chunk, ranks] : users) {
    const StoredCapture& capture = captures.at(chunk.rank);
    const std::uint64_t begin = chunk.chunk * capture.chunk_bytes;
    all.push_back({chunk, std::min(capture.chunk_bytes, capture.bytes - begin), 0, {ranks.begin(), ranks.end()}});
  }
  std::vector<ChunkReading*> largest_first;
  for (ChunkReading& one : all) largest_first.push_back(&one);
  std::stable_sort(largest_first.begin(), largest_first.end(), [](const ChunkReading* a, const ChunkReading* b) {
    // Chunks with one user come first, so that the others can balance the load.
    const bool a_free = a->users.size() > 1, b_free = b->users.size() > 1;
    return a_free != b_free ? b_free : a->bytes > b->bytes;
  });
  std::map<std::uint32_t, std::uint64_t> to_read;
  std::size_t turn = 0;  // otherwise the first of each group would read, and these may share a core
  for (ChunkReading* one : largest_first) {
    auto readers = one->users;
    std::rotate(readers.begin(), readers.begin() + static_cast<std::ptrdiff_t>(turn++ % readers.size()), readers.end());
    one->reader = *std::min_element(readers.begin(), readers.end(),
                                    [&](std::uint32_t a, std::uint32_t b) { return to_read[a] < to_read[b]; });
    to_read[one->reader] += one->bytes;
  }
  return all;
}

void copies(std::uint64_t element_bytes, const StoredBox& from, const StoredCapture& capture, std::uint64_t chunk,
            const Strided& to, const std::function<void(std::uint64_t, std::int64_t, std::uint64_t)>& take) {
  const auto shared = array::intersection(from.box, to.box);
  if (!shared) return;
  const std::uint64_t begin = chunk * capture.chunk_bytes;
  const Interval part = in_chunk(from, element_bytes, capture, chunk);
  const Strided source = array::in_bytes(
      array::packed(from.box, element_bytes, static_cast<std::int64_t>(from.at) - static_cast<std::int64_t>(begin)),
      element_bytes);
  const Strided target = array::in_bytes(to, element_bytes);
  const Box wanted = array::in_bytes(*shared, element_bytes);
  for (const Box& box : array::between(source.box, part.first, part.last))
    if (const auto here = array::intersection(box, wanted))
      array::strided_copy(*here, 1, source, target)
          .each([&](std::int64_t source_at, std::int64_t target_at, std::uint64_t bytes) {
            take(static_cast<std::uint64_t>(source_at), target_at, bytes);
          });
}

}  // namespace perdure::plan
