#include "client/agreement.hpp"

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/hash.hpp"

namespace perdure::client {
namespace {

struct Wire {
  std::uint32_t operation;  // 0: of who cannot say what it was about to do
  std::uint32_t status;
  std::uint64_t name_hash;
  std::int64_t version;
  std::uint64_t detail;
  std::uint32_t engine_lost;
  std::uint32_t node_level_list;
  std::uint64_t root_words[2];
  std::uint64_t node_level_bits;
  std::uint64_t incarnation;
  std::uint64_t bytes;
};

base::Error rank_failed(std::uint64_t rank, std::uint32_t code, const std::string& object) {
  const auto status = code <= base::kLastErrorCode ? static_cast<base::ErrorCode>(code) : PERDURE_INTERNAL;
  return {PERDURE_PEER_FAILED, object, "rank " + std::to_string(rank) + " failed: " + base::code_name(status),
          "see the error of that rank", status == PERDURE_UNAVAILABLE || status == PERDURE_TIMEOUT};
}

std::string described(const Wire& wire) {
  return std::string(operation_name(static_cast<Operation>(wire.operation))) + " of version " +
         std::to_string(wire.version);
}

base::Status compare(const std::vector<Wire>& all, std::size_t mine) {
  std::size_t first = 0;
  while (all[first].operation == 0 && first < mine) ++first;
  for (std::size_t rank = first; rank < all.size(); ++rank) {
    const Wire &a = all[first], &b = all[rank];
    const bool same = b.operation == 0 || (a.operation == b.operation && a.name_hash == b.name_hash &&
                                           a.version == b.version && a.detail == b.detail);
    if (same) continue;
    const std::string what = a.operation != b.operation || a.version != b.version
                                 ? described(a) + " and " + described(b)
                                 : "another name or level";
    return base::fail(PERDURE_MISMATCH, "collective call",
                      "rank " + std::to_string(first) + " and rank " + std::to_string(rank) + " disagree: " + what +
                          " (this is rank " + std::to_string(mine) + ")",
                      "make the same calls with the same names and versions, in the same order, on all ranks");
  }
  return {};
}

// The first of the values is this function's; of the others the greatest come back.
base::Status agree_with(comm::Communicator& comm, const base::Status& mine, std::span<std::uint64_t> values) {
  values[0] = mine ? 0 : failure_word(comm.rank(), mine.error().code);
  PERDURE_CHECK(comm.allreduce(values, comm::Reduce::maximum));
  if (!mine) return base::fail(mine.error());
  if (values[0] == 0) return {};
  return base::fail(peer_failed(values[0], "collective call"));
}

}  // namespace

std::size_t opening_bytes() { return sizeof(Wire); }

base::Status refuse_opening(comm::Communicator& comm, base::ErrorCode why, base::ByteSpan room) {
  Wire wire{};
  wire.status = static_cast<std::uint32_t>(why);
  return comm.allgather(std::as_bytes(std::span(&wire, 1)), room);
}

// The lowest failing rank wins: codes of higher ranks make smaller numbers.
std::uint64_t failure_word(int rank, base::ErrorCode why) {
  return ((0xffffffffULL - static_cast<std::uint64_t>(rank)) << 32) | static_cast<std::uint64_t>(why);
}

base::Error peer_failed(std::uint64_t failure_word, const std::string& object) {
  return rank_failed(0xffffffffULL - (failure_word >> 32), static_cast<std::uint32_t>(failure_word), object);
}

const char* operation_name(Operation operation) {
  switch (operation) {
    case Operation::open:
      return "open";
    case Operation::checkpoint:
      return "checkpoint";
    case Operation::latest:
      return "latest";
    case Operation::stored_size:
      return "stored size";
    case Operation::restore:
      return "restore";
    case Operation::wait:
      return "wait";
    case Operation::retire:
      return "retire";
    case Operation::close:
      return "close";
  }
  return "unknown call";
}

base::Result<Opened> open_collective(comm::Communicator& comm, const Opening& opening, const base::Status& mine) {
  Wire wire{};
  wire.operation = static_cast<std::uint32_t>(opening.operation);
  wire.status = mine ? 0 : static_cast<std::uint32_t>(mine.error().code);
  wire.name_hash = base::hash64(base::as_bytes(opening.name));
  wire.version = opening.version;
  wire.detail = opening.detail;
  wire.engine_lost = opening.engine_lost ? 1 : 0;
  std::memcpy(wire.root_words, opening.root_words, sizeof wire.root_words);
  wire.node_level_bits = opening.node_level_bits;
  wire.node_level_list = opening.node_level_list;
  wire.incarnation = opening.incarnation;
  wire.bytes = opening.bytes;
  std::vector<Wire> all(static_cast<std::size_t>(comm.size()));
  PERDURE_CHECK(comm.allgather(std::as_bytes(std::span(&wire, 1)), std::as_writable_bytes(std::span(all))));
  if (!mine) return base::fail(mine.error());
  PERDURE_CHECK(compare(all, static_cast<std::size_t>(comm.rank())));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].status != 0)
      return base::fail(rank_failed(rank, all[rank].status, operation_name(opening.operation)));
  Opened opened;
  opened.node_level_bits = kEverything;
  for (const Wire& other : all) {
    opened.any_engine_lost = opened.any_engine_lost || other.engine_lost != 0;
    opened.node_level_bits &= other.node_level_list == all[0].node_level_list ? other.node_level_bits : 0;
    opened.bytes.push_back(other.bytes);
  }
  std::memcpy(opened.root_words, all[0].root_words, sizeof opened.root_words);
  opened.incarnation = all[0].incarnation;
  return opened;
}

base::Status agree(comm::Communicator& comm, const base::Status& mine) {
  PERDURE_TRY([[maybe_unused]] const bool same, agree_on(comm, mine, true));
  return {};
}

base::Result<bool> on_any_rank(comm::Communicator& comm, bool here) {
  std::uint64_t any = here ? 1 : 0;
  PERDURE_CHECK(comm.allreduce(std::span(&any, 1), comm::Reduce::maximum));
  return any != 0;
}

base::Result<bool> agree_on(comm::Communicator& comm, const base::Status& mine, bool holds, std::uint64_t of) {
  std::array<std::uint64_t, 4> values{0, holds ? 0U : 1U, of, ~of};
  PERDURE_CHECK(agree_with(comm, mine, values));
  return values[1] == 0 && values[2] == ~values[3];
}

base::Result<HeldByAll> agree_on_both(comm::Communicator& comm, const base::Status& mine, const HeldByAll& holds) {
  std::array<std::uint64_t, 3> values{0, holds.first ? 0U : 1U, holds.second ? 0U : 1U};
  PERDURE_CHECK(agree_with(comm, mine, values));
  return HeldByAll{values[1] == 0, values[2] == 0};
}

}  // namespace perdure::client
