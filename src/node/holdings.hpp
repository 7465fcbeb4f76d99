#pragma once
// Lists the versions in an engine's catalog, and decides whether the store makes up for them. Pure.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catalog/state.hpp"
#include "plan/lineage.hpp"

namespace perdure::node {

/// A version with data on this node.
struct Holding {
  enum class Part {
    none,      ///< no part of its own, or one that can never be committed
    unstored,  ///< committed, and not all of it was stored; or it may have been committed
    stored     ///< all that this node had to store was in the store
  };
  segment::VersionId id;
  std::uint64_t bytes = 0;  ///< of its part and of redundancy kept for it
  Part part = Part::none;
  bool kept_for_others = false;  ///< redundancy of other nodes' parts
  bool needs_store() const { return part != Part::none || kept_for_others; }
  std::string text() const;  ///< "run version 2 (12.0 MiB)"
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// Returns them ascending by version.
std::vector<Holding> holdings_of(const catalog::State& state);

/// A store's knowledge of one name.
struct StoreFacts {
  /// versions whose manifests were read: the requested ones, and each branch's newest
  std::set<segment::VersionId> whole;
  std::set<segment::VersionId> set_aside;  ///< versions with a segment in quarantine
  std::uint64_t forgotten_ns = 0;          ///< attempts up to this time were forgotten on purpose
  std::vector<plan::Fork> forks = {};      ///< the beginnings of branches
};

/// True if nothing is lost when the node drops it. Either the store has this very attempt whole, or it was forgotten on
/// purpose, or it was retired. It was retired if the store had it, has a whole version that goes on from it, and did
/// not quarantine it.
bool makes_up_for(const StoreFacts& facts, const Holding& holding);
/// Returns the stored versions on which this rests: whole ones that are held, and successors of the others. A successor
/// is the newest whole version that goes on from one.
std::set<segment::VersionId> relied_on(const StoreFacts& facts, const std::vector<Holding>& holdings);

}  // namespace perdure::node
