#include "client/agreement.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/field_codec.hpp"
#include "base/hash.hpp"

namespace perdure::client {
namespace {

/// The part of a call that has to be the same on all ranks.
struct Call {
  std::uint64_t operation = 0, name_hash = 0, version = 0, detail = 0;
  friend bool operator==(const Call&, const Call&) = default;
};

base::Error rank_failed(std::uint64_t rank, std::uint32_t code, const std::string& object) {
  const auto status = code <= base::kLastErrorCode ? static_cast<base::ErrorCode>(code) : PERDURE_INTERNAL;
  return {PERDURE_PEER_FAILED, object, "rank " + std::to_string(rank) + " failed: " + base::code_name(status),
          "see the error of that rank", status == PERDURE_UNAVAILABLE || status == PERDURE_TIMEOUT};
}

std::string described(const Call& call) {
  return std::string(operation_name(static_cast<Operation>(call.operation))) + " of version " +
         std::to_string(static_cast<std::int64_t>(call.version));
}

// [collective] Names rank 0's call and that of the lowest rank that calls something else.
base::Status disagreement(comm::Communicator& comm, const Call& mine) {
  Call first = mine, other = mine;
  PERDURE_CHECK(comm.broadcast(std::as_writable_bytes(std::span(&first, 1)), 0));
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  std::uint64_t rank = mine == first ? ranks - 1 : static_cast<std::uint64_t>(comm.rank());
  PERDURE_CHECK(comm.allreduce(std::span(&rank, 1), comm::Reduce::minimum));
  PERDURE_CHECK(comm.broadcast(std::as_writable_bytes(std::span(&other, 1)), static_cast<int>(rank)));
  const std::string what = first.operation != other.operation || first.version != other.version
                               ? described(first) + " and " + described(other)
                               : "another name or level";
  return base::fail(PERDURE_MISMATCH, "collective call",
                    "rank 0 and rank " + std::to_string(rank) + " disagree: " + what + " (this is rank " +
                        std::to_string(comm.rank()) + ")",
                    "make the same calls with the same names and versions, in the same order, on all ranks");
}

/// The words that ranks exchange; the maximum of each comes back. A number and its complement together tell whether all
/// ranks that brought it brought the same one. Only rank 0 brings rank 0's words. A rank that does not know its own
/// call brings its failure, and zeros.
struct Words {
  static constexpr unsigned kBits = 64, kDueBits = 8;
  static constexpr std::size_t kFixed = 30 + kBits + kDueBits;
  std::span<std::uint64_t> all;

  std::uint64_t& failure() { return all[0]; }
  std::span<std::uint64_t> alike() { return all.subspan(1, 10); }  // operation, name, version, detail, list
  std::uint64_t& engine_lost() { return all[11]; }
  std::span<std::uint64_t> of_root() { return all.subspan(12, 3); }  // attempt, incarnation
  std::uint64_t& gone() { return all[15]; }                          // some rank does not know its own call
  std::span<std::uint64_t> regions() { return all.subspan(16, 4); }
  std::uint64_t& here() { return all[20]; }
  std::span<std::uint64_t> staged() { return all.subspan(21, 2); }
  std::span<std::uint64_t> next_of_root() { return all.subspan(23, 2); }
  std::uint64_t& knew_next() { return all[25]; }
  std::uint64_t& busy() { return all[26]; }
  std::uint64_t& refused_next() { return all[27]; }
  std::span<std::uint64_t> not_promised() { return all.subspan(28, kBits); }
  std::span<std::uint64_t> due() { return all.subspan(28 + kBits, kDueBits); }
  std::span<std::uint64_t> marks() { return all.subspan(28 + kBits + kDueBits, 2); }
  std::span<std::uint64_t> lengths() { return all.subspan(kFixed); }
};

bool same_everywhere(std::span<const std::uint64_t> number_and_complement) {
  return number_and_complement[0] == ~number_and_complement[1];
}

void fill(Words words, const comm::Communicator& comm, const Opening& opening, const Call& call) {
  const std::uint64_t numbers[] = {call.operation, call.name_hash, call.version, call.detail, opening.node_level_list};
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    words.alike()[2 * i] = numbers[i];
    words.alike()[2 * i + 1] = ~numbers[i];
  }
  words.staged()[0] = opening.staged.attempt_ns;
  words.staged()[1] = ~opening.staged.attempt_ns;
  words.marks()[0] = opening.mark;
  words.marks()[1] = ~opening.mark;
  words.knew_next() = opening.knows_next ? 1 : 0;
  words.engine_lost() = opening.engine_lost ? 1 : 0;
  words.here() = opening.here ? 1 : 0;
  words.refused_next() = opening.next.refused ? 1 : 0;
  words.busy() = opening.staged.busy ? 1 : 0;
  for (unsigned bit = 0; bit < Words::kDueBits; ++bit) words.due()[bit] = opening.due >> bit & 1U;
  const bool news[] = {opening.regions.local, opening.regions.arrays, opening.regions.declared.changed,
                       opening.regions.declared.varying};
  std::copy(std::begin(news), std::end(news), words.regions().begin());
  if (comm.rank() == 0) {
    words.of_root()[0] = opening.attempt.created_ns;
    words.of_root()[1] = opening.attempt.nonce;
    words.of_root()[2] = opening.incarnation;
    words.next_of_root()[0] = opening.next.attempt.created_ns;
    words.next_of_root()[1] = opening.next.attempt.nonce;
  }
  for (unsigned bit = 0; bit < Words::kBits; ++bit)
    words.not_promised()[bit] = (opening.node_level_bits >> bit & 1U) == 0 ? 1 : 0;
  if (opening.leader.number) words.lengths()[*opening.leader.number] = opening.bytes;
}

StagedAhead staged_ahead(Words words) {
  if (words.knew_next() == 0) return StagedAhead::not_told;
  if (words.staged()[0] == 0) return StagedAhead::by_none;
  return same_everywhere(words.staged()) ? StagedAhead::by_all : StagedAhead::by_some;
}

void read(Words words, Opened& opened) {
  opened.any_engine_lost = words.engine_lost() != 0;
  opened.any_here = words.here() != 0;
  opened.any_busy = words.busy() != 0;
  for (unsigned bit = 0; bit < Words::kDueBits; ++bit)
    if (words.due()[bit] != 0) opened.due |= 1U << bit;
  if (same_everywhere(words.alike().subspan(8)))
    for (unsigned bit = 0; bit < Words::kBits; ++bit)
      if (words.not_promised()[bit] == 0) opened.node_level_bits |= std::uint64_t{1} << bit;
  opened.attempt = {words.of_root()[0], words.of_root()[1]};
  opened.incarnation = words.of_root()[2];
  opened.next = {{words.next_of_root()[0], words.next_of_root()[1]}, words.refused_next() != 0};
  opened.ahead = staged_ahead(words);
  opened.greatest_mark = words.marks()[0];
  opened.least_mark = ~words.marks()[1];
  const auto news = words.regions();
  opened.regions = {news[0] != 0, news[1] != 0, {news[2] != 0, news[3] != 0}};
  std::copy(words.lengths().begin(), words.lengths().end(), opened.bytes.begin());
}

// Exchanges `values` for maxima. The function itself uses the first of them.
base::Status agree_with(comm::Communicator& comm, const base::Status& mine, std::span<std::uint64_t> values) {
  values[0] = mine ? 0 : failure_word(comm.rank(), mine.error().code);
  PERDURE_CHECK(comm.allreduce(values, comm::Reduce::maximum));
  if (!mine) return base::fail(mine.error());
  if (values[0] == 0) return {};
  return base::fail(peer_failed(values[0], "collective call"));
}

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

std::size_t opening_words(std::size_t leaders) { return Words::kFixed + leaders; }

base::Status refuse_opening(comm::Communicator& comm, base::ErrorCode why, std::span<std::uint64_t> room) {
  std::fill(room.begin(), room.end(), 0);
  Words words{room};
  words.failure() = failure_word(comm.rank(), why);
  words.gone() = 1;
  return comm.allreduce(room, comm::Reduce::maximum);
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
    case Operation::any:
      return "any";
    case Operation::due:
      return "due";
    case Operation::meet:
      return "meet";
  }
  return "unknown call";
}

base::Result<Opened> open_collective(comm::Communicator& comm, const Opening& opening, const base::Status& mine) {
  const Call call{static_cast<std::uint64_t>(opening.operation), base::hash64(base::as_bytes(opening.name)),
                  static_cast<std::uint64_t>(opening.version), opening.detail};
  std::vector<std::uint64_t> brought(opening_words(opening.leader.of));
  Words words{brought};
  fill(words, comm, opening, call);
  base::Result<Opened> opened;  // allocated before the exchange
  opened->bytes.resize(opening.leader.of);
  words.failure() = mine ? 0 : failure_word(comm.rank(), mine.error().code);
  PERDURE_CHECK(comm.allreduce(brought, comm::Reduce::maximum));
  // A rank that is gone takes no part in the search for the rank that differs. All others get its failure.
  base::Status alike;
  for (std::size_t i = 0; i < 4 && alike && words.gone() == 0; ++i)
    if (!same_everywhere(words.alike().subspan(2 * i))) alike = disagreement(comm, call);
  if (!mine) return base::fail(mine.error());
  PERDURE_CHECK(alike);
  if (words.failure() != 0) return base::fail(peer_failed(words.failure(), operation_name(opening.operation)));
  read(words, *opened);
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

base::Status first_error(comm::Communicator& comm, const base::Error& mine, std::uint64_t first, std::uint64_t second) {
  PERDURE_TRY(const auto who, least(comm, first, second));
  return who ? error_of(comm, mine, *who) : base::Status();
}

}  // namespace perdure::client
