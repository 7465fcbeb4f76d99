#pragma once
// Finds, after nodes were lost, the source of every rank's piece of a version, or why there is none. Pure, over the
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

/// A rank of a position of a group, and the number of chunks of its piece.
struct ReplicatedRank {
  std::uint32_t rank = 0;
  std::uint64_t chunks = 0;
  friend bool operator==(const ReplicatedRank&, const ReplicatedRank&) = default;
};

/// The ranks of a position, ascending. If all have the same number of chunks, it takes no more memory than one.
class PositionRanks {
 public:
  PositionRanks() = default;
  PositionRanks(const std::vector<ReplicatedRank>& ascending);
  const base::Runs<std::uint32_t>& ranks() const { return ranks_; }
  std::vector<ReplicatedRank> list() const;
  friend bool operator==(const PositionRanks&, const PositionRanks&) = default;
  PERDURE_FIELDS(ranks_, chunks_)
  std::string wrong() const;  ///< the defect of a decoded one: a rank without a number of chunks

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
  std::uint32_t node = 0;  ///< in this launch
  std::uint64_t epoch = 0;
  std::uint32_t group = 0;
  std::string scheme;
  std::uint32_t parities = 0;
  std::uint32_t position = 0;              ///< the position whose blocks it keeps
  std::vector<PositionRanks> members;      ///< by position
  base::Runs<std::uint64_t> missing = {};  ///< blocks that it should keep and lacks: numbers as in redundancy::Item
  PERDURE_FIELDS(node, epoch, group, scheme, parities, position, members, missing)
};

/// The nodes that have each rank's whole piece in tiers.
class PieceHolders {
 public:
  PieceHolders() = default;
  /// `held` has pairs of rank and node.
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
  std::vector<bool> stored = {};  ///< by rank: its segment is in the store; empty: none is
  /// By rank: its piece is on the node where it runs, but partly in a temporary segment, so that other nodes get none
  /// of it. Empty: none is.
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
  /// Why the first lost rank's piece is nowhere, as a sentence without full stop.
  std::optional<std::string> lost = {};
  bool whole() const { return !lost.has_value(); }
};

/// `nodes_now[r]` is the node of rank r. It takes n log n in ranks, and in the chunks to rebuild.
RecoveryPlan plan_recovery(const VersionInventory& inventory, const std::vector<std::uint32_t>& nodes_now);

/// The question to one node, so that another one can fetch or rebuild pieces.
struct NodeQuestion {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> pieces;      ///< ascending: ranks whose pieces it may have
  std::vector<std::uint32_t> redundancy;  ///< ascending: ranks for whose groups it keeps redundancy blocks
  friend bool operator==(const NodeQuestion&, const NodeQuestion&) = default;
};
/// Returns, ascending by node, all nodes with data from which the wanted ranks' pieces can be had. That is the pieces
/// themselves. In case some are damaged, it is also the redundancy of their groups and the pieces that it was encoded
/// from.
std::vector<NodeQuestion> nodes_to_ask(const VersionInventory& inventory, const std::vector<std::uint32_t>& wanted);

}  // namespace perdure::plan
