#pragma once
// How ranks agree: on what they are about to do, and on whether it worked everywhere.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "plan/lineage.hpp"

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

inline constexpr std::uint64_t kPart = 1;  ///< Opening::detail of calls about one part of what there is
/// Opening::detail of calls about versions of this branch, whichever is the current one.
inline std::uint64_t on_branch(plan::Branch branch) { return std::uint64_t{2} | std::uint64_t{branch} << 8U; }
inline std::optional<plan::Branch> branch_in(std::uint64_t detail) {
  return (detail & 2U) != 0 ? std::optional(static_cast<plan::Branch>(detail >> 8U)) : std::nullopt;
}
inline constexpr std::uint64_t kEverything = ~std::uint64_t{0};  ///< from who knows nothing that others do not

/// What is said of regions at the beginning of a call: of one rank, or of all that said so.
struct RegionNews {
  bool local = false;   ///< some that the call is about are no parts of arrays
  bool arrays = false;  ///< some are
  /// Of all arrays.
  struct Declared {
    bool changed = false;  ///< otherwise than all ranks have agreed
    bool varying = false;  ///< some need an exchange in every call: lists, replicated values
  };
  Declared declared = {};
};

/// What a rank brings to the beginning of a collective call.
struct Opening {
  Operation operation = Operation::open;
  std::string name;
  std::int64_t version = 0;
  std::uint64_t detail = 0;  ///< anything else that must be equal everywhere (a level)
  bool engine_lost = false;
  bool wish = false;                     ///< whatever ranks want to know of each other
  unsigned due = 0;                      ///< bits of perdure_due_reason, as this rank knows them
  std::uint64_t root_words[2] = {0, 0};  ///< what rank 0 tells the others
  std::uint64_t next_words[2] = {0, 0};  ///< what it tells them for a call that follows
  bool knows_next = false;               ///< the call before told this rank of an attempt for this one
  struct StagedPiece {
    std::uint64_t attempt_ns = 0;  ///< of that attempt; 0: this rank has not staged its piece
    bool busy = false;             ///< ipc::Staged
  };
  StagedPiece staged = {};
  std::uint64_t incarnation = 0;  ///< of the name's place in the store, as rank 0 knows it; 0: it does not
  comm::Speaker leader = {};      ///< among the leaders of nodes, once nodes are known
  std::uint64_t bytes = 0;        ///< so much this rank has to tell next, if it leads
  std::uint64_t node_level_bits = kEverything;  ///< attempts that this rank's engine promises at level `node`
  std::uint32_t node_level_list = 0;            ///< which list of attempts the bits mean
  RegionNews regions = {};
  std::uint64_t mark = 0;         ///< of where ranks should be together
  std::string local_region = {};  ///< the first that makes `regions.local` true here; the others are not told
};

/// By which ranks a piece is staged, of the attempt that the call before told. `not_told`: no rank knew of one.
enum class StagedAhead { not_told, by_none, by_some, by_all };

struct Opened {
  bool any_engine_lost = false;
  bool any_wish = false;
  unsigned due = 0;                   ///< bits that any rank brought
  std::uint64_t node_level_bits = 0;  ///< that all ranks brought, and none where they mean different lists
  std::uint64_t root_words[2] = {0, 0};
  std::uint64_t next_words[2] = {0, 0};
  StagedAhead ahead = StagedAhead::not_told;
  bool any_busy = false;
  std::uint64_t incarnation = 0;          ///< rank 0's
  std::vector<std::uint64_t> bytes = {};  ///< that each leader has to tell next
  RegionNews regions = {};                ///< on any rank
  std::uint64_t greatest_mark = 0, least_mark = 0;
};

/// One exchange of some 800 bytes and 8 for each node, however many ranks there are. Ranks that call different
/// operations, or with other names, versions or details: PERDURE_MISMATCH on all. If `mine` is an error, this rank gets
/// it back and all others PERDURE_PEER_FAILED naming the lowest such rank. A success needs no memory after the
/// exchange: no rank fails alone that was told of one.
base::Result<Opened> open_collective(comm::Communicator& comm, const Opening& opening, const base::Status& mine);

/// For who cannot go on, and takes part in an opening without memory: `room` has opening_words() for as many leaders as
/// the others tell of. The others get PERDURE_PEER_FAILED.
std::size_t opening_words(std::size_t leaders);
base::Status refuse_opening(comm::Communicator& comm, base::ErrorCode why, std::span<std::uint64_t> room);

/// What a rank's failure is in an exchange of maxima, of which the lowest rank's comes back; 0 is none.
std::uint64_t failure_word(int rank, base::ErrorCode why);
base::Error peer_failed(std::uint64_t failure_word, const std::string& object);

/// One exchange: success if all ranks bring success; otherwise as above.
base::Status agree(comm::Communicator& comm, const base::Status& mine);
/// The same for what `work` returns, a Status. What it throws is brought to the exchange, too: others wait in it.
template <class Work>
base::Status agree_after(comm::Communicator& comm, const std::string& object, Work work) {
  return agree(comm, base::caught(object, [&]() -> base::Status { return work(); }));
}
/// The same, and in the same exchange: whether `holds` is true on all ranks, of the same thing.
base::Result<bool> agree_on(comm::Communicator& comm, const base::Status& mine, bool holds, std::uint64_t of = 0);

struct HeldByAll {
  bool first = false, second = false;
};
/// The same for two things at once.
base::Result<HeldByAll> agree_on_both(comm::Communicator& comm, const base::Status& mine, const HeldByAll& holds);

/// One exchange: whether it is so on any rank.
base::Result<bool> on_any_rank(comm::Communicator& comm, bool here);

}  // namespace perdure::client
