#include <algorithm>

#include "comm/communicator.hpp"

namespace perdure::comm {

base::Result<std::vector<std::vector<std::byte>>> allgather_bytes(Communicator& comm, base::ConstByteSpan mine) {
  const auto size = static_cast<std::size_t>(comm.size());
  const std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(size);
  PERDURE_CHECK(comm.allgather(std::as_bytes(std::span(&length, 1)), std::as_writable_bytes(std::span(lengths))));
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::byte> padded(longest);
  std::copy(mine.begin(), mine.end(), padded.begin());
  std::vector<std::byte> all(size * longest);
  if (longest > 0) PERDURE_CHECK(comm.allgather(padded, all));
  std::vector<std::vector<std::byte>> result(size);
  for (std::size_t rank = 0; rank < size; ++rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank * longest);
    result[rank].assign(first, first + static_cast<std::ptrdiff_t>(lengths[rank]));
  }
  return result;
}

base::Result<std::vector<std::byte>> broadcast_bytes(Communicator& comm, base::ConstByteSpan data, int root) {
  std::uint64_t length = data.size();
  PERDURE_CHECK(comm.broadcast(std::as_writable_bytes(std::span(&length, 1)), root));
  std::vector<std::byte> result(length);
  if (comm.rank() == root) std::copy(data.begin(), data.end(), result.begin());
  if (length > 0) PERDURE_CHECK(comm.broadcast(result, root));
  return result;
}

}  // namespace perdure::comm
