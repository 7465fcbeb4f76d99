#pragma once
// Ranks agree here on the call that they are about to make, and on whether it worked everywhere.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "plan/lineage.hpp"
#include "segment/manifest.hpp"

namespace perdure::client {

enum class Operation : std::uint32_t {
  open = 1,
  checkpoint,
  latest,
  stored_size,
  restore,
  wait,
  retire,
  close,
  any,
  due,
  meet
};
const char* operation_name(Operation operation);

inline constexpr std::uint64_t kPart = 1;  ///< Opening::detail of calls about one region or part
/// Opening::detail of calls about versions of this branch, whichever is the current one.
inline std::uint64_t on_branch(plan::Branch branch) { return std::uint64_t{2} | std::uint64_t{branch} << 8U; }
inline std::optional<plan::Branch> branch_in(std::uint64_t detail) {
  return (detail & 2U) != 0 ? std::optional(static_cast<plan::Branch>(detail >> 8U)) : std::nullopt;
}
inline constexpr std::uint64_t kEverything =
    ~std::uint64_t{0};  ///< brought by a rank that knows nothing that others do not

/// Facts about regions that the opening of a call needs: of one rank, or combined over all ranks.
struct RegionNews {
  bool local = false;   ///< some regions of the call are not parts of arrays
  bool arrays = false;  ///< some regions of the call are parts of arrays
  /// Facts about all declared arrays.
  struct Declared {
    bool changed = false;  ///< they differ from those that all ranks have agreed on
    bool varying = false;  ///< some need an exchange in every call: lists, replicated values
  };
  Declared declared = {};
};

/// The checkpoint that may follow: what rank 0 tells, and whether a rank cannot stage its piece before the opening.
struct NextCheckpoint {
  segment::Attempt attempt = {};
  bool refused = false;  ///< of one rank, or of any rank
};

/// One rank's contribution to the opening of a collective call.
struct Opening {
  Operation operation = Operation::open;
  std::string name;
  std::int64_t version = 0;
  std::uint64_t detail = 0;  ///< anything else that must be equal everywhere (a level)
  bool engine_lost = false;
  bool here = false;              ///< the answer of this rank to the call's question
  unsigned due = 0;               ///< bits of perdure_due_reason, as this rank knows them
  segment::Attempt attempt = {};  ///< the attempt at the version, which rank 0 tells the others
  NextCheckpoint next = {};
  bool knows_next = false;  ///< the call before told this rank of an attempt for this one
  struct StagedPiece {
    std::uint64_t attempt_ns = 0;  ///< start of that attempt; 0: this rank has not staged its piece
    bool busy = false;             ///< ipc::Staged
  };
  StagedPiece staged = {};
  std::uint64_t incarnation = 0;  ///< incarnation of the name's place in the store, as rank 0 knows it; 0: it does not
  comm::Speaker leader = {};      ///< this rank's place among the leaders of nodes, once nodes are known
  std::uint64_t bytes = 0;        ///< bytes that this rank has to tell next, if it leads
  std::uint64_t node_level_bits = kEverything;  ///< attempts that this rank's engine promises at level `node`
  std::uint32_t node_level_list = 0;            ///< which list of attempts the bits mean
  RegionNews regions = {};
  std::uint64_t mark = 0;         ///< mark of the place where ranks should be together
  std::string local_region = {};  ///< the first region that makes `regions.local` true here; the others are not told
};

/// The ranks that have staged a piece of the attempt that the call before told. `not_told`: no rank knew of one.
enum class StagedAhead { not_told, by_none, by_some, by_all };

struct Opened {
  bool any_engine_lost = false;
  bool any_here = false;
  unsigned due = 0;                   ///< bits that any rank brought
  std::uint64_t node_level_bits = 0;  ///< bits that all ranks brought; none if they mean different lists
  segment::Attempt attempt = {};
  NextCheckpoint next = {};
  StagedAhead ahead = StagedAhead::not_told;
  bool any_busy = false;
  std::uint64_t incarnation = 0;          ///< rank 0's incarnation
  std::vector<std::uint64_t> bytes = {};  ///< bytes that each leader has to tell next
  RegionNews regions = {};                ///< facts that hold on any rank
  std::uint64_t greatest_mark = 0, least_mark = 0;
};

/// Opens a collective call with one exchange of some 800 bytes, and 8 for each node, however many ranks there are. If
/// ranks call different operations, names, versions or details, all get PERDURE_MISMATCH. If `mine` is an error, this
/// rank gets it back. All others then get PERDURE_PEER_FAILED, naming the lowest such rank. A success needs no memory
/// after the exchange, so no rank fails alone once the others were told of a success.
base::Result<Opened> open_collective(comm::Communicator& comm, const Opening& opening, const base::Status& mine);

/// Takes part in an opening without allocating, for a rank that cannot go on. `room` has opening_words() for as many
/// leaders as the others bring. The others get PERDURE_PEER_FAILED.
std::size_t opening_words(std::size_t leaders);
base::Status refuse_opening(comm::Communicator& comm, base::ErrorCode why, std::span<std::uint64_t> room);

/// Encodes a rank's failure for an exchange of maxima: the lowest rank's failure comes back; 0 is none.
std::uint64_t failure_word(int rank, base::ErrorCode why);
base::Error peer_failed(std::uint64_t failure_word, const std::string& object);

/// Succeeds if all ranks bring success; otherwise as open_collective(). Costs one exchange.
base::Status agree(comm::Communicator& comm, const base::Status& mine);
/// Agrees on the Status that `work` returns. An exception of `work` goes into the exchange, too: others wait in it.
template <class Work>
base::Status agree_after(comm::Communicator& comm, const std::string& object, Work work) {
  return agree(comm, base::caught(object, [&]() -> base::Status { return work(); }));
}
/// Agrees, and tells in the same exchange whether `holds` is true on all ranks, about the same thing `of`.
base::Result<bool> agree_on(comm::Communicator& comm, const base::Status& mine, bool holds, std::uint64_t of = 0);

struct HeldByAll {
  bool first = false, second = false;
};
/// Agrees, and tells the same about two things at once.
base::Result<HeldByAll> agree_on_both(comm::Communicator& comm, const base::Status& mine, const HeldByAll& holds);

/// Tells whether `here` is true on any rank. Costs one exchange.
base::Result<bool> on_any_rank(comm::Communicator& comm, bool here);

/// [collective] Gives the error of the rank whose two words are least, lexicographically. Success when the first word
/// is ~0 on all ranks: no rank found an error.
base::Status first_error(comm::Communicator& comm, const base::Error& mine, std::uint64_t first, std::uint64_t second);

}  // namespace perdure::client
