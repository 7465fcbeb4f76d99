#pragma once
// After nodes were lost: the source of every rank's piece of a version, or why there is none. Pure, over the
// inventories of all engines and the store. (docs/adr/0014, 0020)
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "base/runs.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::plan {

/// A rank of a position of a group, and how many chunks its piece has.
struct ReplicatedRank {
  std::uint32_t rank = 0;
  std::uint64_t chunks = 0;
  friend bool operator==(const ReplicatedRank&, const ReplicatedRank&) = default;
};

/// The ranks of a position, ascending. Where all have as many chunks it is as small as for one.
class PositionRanks {
 public:
  PositionRanks() = default;
  PositionRanks(const std::vector<ReplicatedRank>& ascending);
  const base::Runs<std::uint32_t>& ranks() const { return ranks_; }
  std::vector<ReplicatedRank> list() const;
  friend bool operator==(const PositionRanks&, const PositionRanks&) = default;
  PERDURE_FIELDS(ranks_, chunks_)
  std::string wrong() const;  ///< not every rank has a number of chunks

 private:
  struct Chunks {
    std::uint32_t ranks = 0;  ///< so many in sequence
    std::uint64_t each = 0;
    friend bool operator==(const Chunks&, const Chunks&) = default;
    PERDURE_FIELDS(ranks, each)
  };
  base::Runs<std::uint32_t> ranks_;
  std::vector<Chunks> chunks_;
};

/// One node's redundancy blocks for a group, from its catalog.
struct RedundancyShare {
  std::uint32_t node = 0;  ///< of this launch
  std::uint64_t epoch = 0;
  std::uint32_t group = 0;
  std::string scheme;
  std::uint32_t parities = 0;
  std::uint32_t position = 0;              ///< of what it keeps
  std::vector<PositionRanks> members;      ///< by position
  base::Runs<std::uint64_t> missing = {};  ///< of what it should keep: numbers as in redundancy::Item
  PERDURE_FIELDS(node, epoch, group, scheme, parities, position, members, missing)
};

/// On which nodes each rank's whole piece is in tiers.
class PieceHolders {
 public:
  PieceHolders() = default;
  /// `held`: rank and node.
  PieceHolders(std::uint32_t ranks, std::vector<std::pair<std::uint32_t, std::uint32_t>> held);
  std::uint32_t ranks() const { return ranks_; }
  std::vector<std::uint32_t> of(std::uint32_t rank) const;  ///< ascending
  bool any(std::uint32_t rank) const;
  bool on(std::uint32_t rank, std::uint32_t node) const;

 private:
  std::uint32_t ranks_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held_;  // ascending, each once
};

struct VersionInventory {
  PieceHolders holders;
  std::vector<RedundancyShare> kept;
  std::vector<bool> stored = {};  ///< by rank: its segment is in the store; may be empty: none is
  /// By rank: its piece is on the node where it runs, partly in a temporary segment, so that other nodes get nothing of
  /// it. May be empty: none is.
  std::vector<bool> half_flushed = {};
};

enum class PieceSource : std::uint8_t {
  nowhere,
  in_place,  ///< on the node where the rank runs now
  move,      ///< on another node
  rebuild,   ///< from the copies or stripes of its group
  store
};

struct RecoveryPlan {
  std::vector<PieceSource> of_rank;
  /// The first rank's that is nowhere: why, as a sentence without full stop.
  std::optional<std::string> lost = {};
  bool whole() const { return !lost.has_value(); }
};

/// `nodes_now[r]`: where rank r runs. n log n in ranks, and in the chunks that have to be rebuilt.
RecoveryPlan plan_recovery(const VersionInventory& inventory, const std::vector<std::uint32_t>& nodes_now);

/// What one node is asked for, so that another one can fetch or rebuild pieces.
struct NodeQuestion {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> pieces;      ///< ascending: ranks whose pieces it may have
  std::vector<std::uint32_t> redundancy;  ///< ascending: ranks whose groups it keeps redundancy blocks of
  friend bool operator==(const NodeQuestion&, const NodeQuestion&) = default;
};
/// Ascending by node: all nodes that have anything by which the wanted ranks' pieces could be had: these pieces
/// themselves, and for what turns out to be damaged, too, the redundancy of their groups and the pieces that it was
/// encoded from.
std::vector<NodeQuestion> nodes_to_ask(const VersionInventory& inventory, const std::vector<std::uint32_t>& wanted);

}  // namespace perdure::plan
