#pragma once
// After nodes were lost: the source of every rank's piece of a version, or why there is none. Pure, over the
// inventories of all engines and the store. (docs/adr/0014)
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::plan {

/// A rank of a position of a group, and how many chunks its piece has.
struct ReplicatedRank {
  std::uint32_t rank = 0;
  std::uint64_t chunks = 0;
  friend bool operator==(const ReplicatedRank&, const ReplicatedRank&) = default;
};

/// One node's redundancy blocks for a group, from its catalog.
struct RedundancyShare {
  std::uint32_t node = 0;  ///< of this launch
  std::uint64_t epoch = 0;
  std::uint32_t group = 0;
  std::string scheme;
  unsigned parities = 0;
  unsigned position = 0;                             ///< of what it keeps
  std::vector<std::vector<ReplicatedRank>> members;  ///< by position, ascending by rank
  std::set<std::uint64_t> missing = {};              ///< of what it should keep: numbers as in redundancy::Item
};

struct VersionInventory {
  std::vector<std::vector<std::uint32_t>> nodes_of_rank;  ///< by rank: nodes whose tiers hold its whole piece
  std::vector<RedundancyShare> kept;
  std::vector<bool> stored;  ///< by rank: its segment is in the store; may be empty: none is
  /// By rank: its piece is on the node where it runs, partly in a temporary segment, so that other nodes get nothing of
  /// it. May be empty: none is.
  std::vector<bool> half_flushed = {};
};

struct PieceSource {
  enum class Kind {
    in_place,  ///< on the node where the rank runs now
    move,      ///< on `node`
    rebuild,   ///< from the copies or stripes of kept[part] and the other parts of its group
    store,
    nowhere
  };
  Kind kind = Kind::nowhere;
  std::uint32_t node = 0;
  std::size_t part = 0;  ///< index in VersionInventory::kept, of any part of the group
  std::string why;       ///< of `nowhere` and `store`: why not nearer, as a sentence without full stop
};

/// By rank. `nodes_now[r]`: where rank r runs.
std::vector<PieceSource> plan_recovery(const VersionInventory& inventory, const std::vector<std::uint32_t>& nodes_now);

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
