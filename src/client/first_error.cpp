#include "client/first_error.hpp"

#include <optional>

#include "base/field_codec.hpp"
#include "client/agreement.hpp"

namespace perdure::client {
namespace {

// [collective] Gives the rank with the least words, lexicographically; nothing if all words are the greatest value.
base::Result<std::optional<int>> least(comm::Communicator& comm, std::uint64_t first, std::uint64_t second) {
  std::uint64_t word = first;
  PERDURE_CHECK(comm.allreduce(std::span(&word, 1), comm::Reduce::minimum));
  if (word == ~std::uint64_t{0}) return std::optional<int>();
  const bool still = word == first;
  word = still ? second : ~std::uint64_t{0};
  PERDURE_CHECK(comm.allreduce(std::span(&word, 1), comm::Reduce::minimum));
  word = still && word == second ? static_cast<std::uint64_t>(comm.rank()) : ~std::uint64_t{0};
  PERDURE_CHECK(comm.allreduce(std::span(&word, 1), comm::Reduce::minimum));
  return std::optional(static_cast<int>(word));
}

// [collective] Makes that rank's error the error of all.
base::Status error_of(comm::Communicator& comm, const base::Error& mine, int rank) {
  std::vector<std::byte> told;
  if (comm.rank() == rank) told = base::encode_fields(mine);
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(comm, told, rank));
  PERDURE_TRY(const auto error, base::decode_fields<base::Error>(bytes, "declarations"));
  return base::fail(error);
}

}  // namespace

base::Status first_error(comm::Communicator& comm, const base::Error& mine, std::uint64_t first, std::uint64_t second) {
  PERDURE_TRY(const auto who, least(comm, first, second));
  return who ? error_of(comm, mine, *who) : base::Status();
}

}  // namespace perdure::client
