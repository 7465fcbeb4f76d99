// Byte strings of different lengths: lengths first, then the data.
#include <algorithm>
#include <cstring>

#include "comm/communicator.hpp"

namespace perdure::comm {
namespace {

using Gathered = base::Result<std::vector<std::vector<std::byte>>>;

std::uint64_t words_of(std::uint64_t bytes) { return (bytes + 7) / 8; }

// Everything to everybody, as long as the longest.
Gathered padded(Communicator& comm, base::ConstByteSpan mine, const std::vector<std::uint64_t>& lengths,
                std::uint64_t longest) {
  std::vector<std::vector<std::byte>> result;
  std::vector<std::byte> block(longest), all(longest * lengths.size());
  std::copy(mine.begin(), mine.end(), block.begin());
  PERDURE_CHECK(comm.allgather(block, all));
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(r * longest);
    result.emplace_back(first, first + static_cast<std::ptrdiff_t>(lengths[r]));
  }
  return result;
}

// Each rank's words have a place of their own, where all others have zeros: their sum is what that rank gave.
Gathered unpadded(Communicator& comm, base::ConstByteSpan mine, const std::vector<std::uint64_t>& lengths,
                  std::uint64_t words) {
  std::vector<std::uint64_t> sum(words);
  std::uint64_t begin = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(comm.rank()); ++r) begin += words_of(lengths[r]);
  if (!mine.empty()) std::memcpy(sum.data() + begin, mine.data(), mine.size());
  PERDURE_CHECK(comm.allreduce(sum, Reduce::sum));
  std::vector<std::vector<std::byte>> result;
  const auto* next = reinterpret_cast<const std::byte*>(sum.data());
  for (const std::uint64_t length : lengths) {
    result.emplace_back(next, next + length);
    next += words_of(length) * sizeof(std::uint64_t);
  }
  return result;
}

}  // namespace

base::Result<std::vector<std::vector<std::byte>>> allgather_bytes(Communicator& comm, base::ConstByteSpan mine) {
  const auto size = static_cast<std::size_t>(comm.size());
  std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(size);
  PERDURE_CHECK(comm.allgather(std::as_bytes(std::span(&length, 1)), std::as_writable_bytes(std::span(lengths))));
  return allgather_known(comm, mine, lengths);
}

base::Result<std::vector<std::vector<std::byte>>> allgather_known(Communicator& comm, base::ConstByteSpan mine,
                                                                  const std::vector<std::uint64_t>& lengths) {
  const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::uint64_t words = 0;
  for (const std::uint64_t length : lengths) words += words_of(length);
  if (longest == 0) return std::vector<std::vector<std::byte>>(lengths.size());
  return 2 * words * sizeof(std::uint64_t) < longest * lengths.size() ? unpadded(comm, mine, lengths, words)
                                                                      : padded(comm, mine, lengths, longest);
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
