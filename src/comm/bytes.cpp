// Byte strings of different lengths: lengths first, then the data padded to the longest.
#include <algorithm>

#include "comm/communicator.hpp"

namespace perdure::comm {

base::Result<std::vector<std::vector<std::byte>>> allgather_bytes(Communicator& comm, base::ConstByteSpan mine) {
  const auto size = static_cast<std::size_t>(comm.size());
  std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(size);
  PERDURE_CHECK(comm.allgather(std::as_bytes(std::span(&length, 1)), std::as_writable_bytes(std::span(lengths))));
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::vector<std::byte>> result(size);
  if (longest == 0) return result;
  std::vector<std::byte> padded(longest), all(longest * size);
  std::copy(mine.begin(), mine.end(), padded.begin());
  PERDURE_CHECK(comm.allgather(padded, all));
  for (std::size_t r = 0; r < size; ++r) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(r * longest);
    result[r].assign(first, first + static_cast<std::ptrdiff_t>(lengths[r]));
  }
  return result;
}

base::Result<std::vector<std::byte>> broadcast_bytes(Communicator& comm, base::ConstByteSpan data, int root) {
  std::uint64_t length = data.size();
  PERDURE_CHECK(comm.broadcast(std::as_writable_bytes(std::span(&length, 1)), root));
  std::vector<std::byte> bytes(length);
  if (comm.rank() == root) std::copy(data.begin(), data.end(), bytes.begin());
  if (length > 0) PERDURE_CHECK(comm.broadcast(bytes, root));
  return bytes;
}

}  // namespace perdure::comm
