#pragma once
// Lists the versions in an engine's catalog, and decides whether the store makes up for them. Pure.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catalog/state.hpp"
#include "plan/lineage.hpp"

namespace perdure::node {

/// A version of which something is held.
struct Holding {
  enum class Part {
    none,      ///< nothing of its own, or what no commit can follow any more
    unstored,  ///< committed, and not all of it was brought to the store; or it may have been committed
    stored     ///< all that this node was to bring to the store was there
  };
  segment::VersionId id;
  std::uint64_t bytes = 0;  ///< of it, and of what is kept for it
  Part part = Part::none;
  bool kept_for_others = false;  ///< redundancy of other nodes' parts
  bool needs_store() const { return part != Part::none || kept_for_others; }
  std::string text() const;  ///< "run version 2 (12.0 MiB)"
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// Ascending by version.
std::vector<Holding> holdings_of(const catalog::State& state);

/// What a store has of one name.
struct StoreFacts {
  std::set<segment::VersionId> whole;      ///< whose manifests were read: those asked for, and each branch's newest
  std::set<segment::VersionId> set_aside;  ///< of which a segment is in quarantine
  std::uint64_t forgotten_ns = 0;          ///< attempts up to then were forgotten on purpose
  std::vector<plan::Fork> forks = {};      ///< where branches begin
};

/// Nothing is lost when the node gives it up: the store has this very attempt whole; it was forgotten on purpose; or
/// the store had it, has something whole that goes on from it, and did not set it aside, so that it was retired.
bool makes_up_for(const StoreFacts& facts, const Holding& holding);
/// The versions that this rests on: those that are whole and held, and of what else is held the newest whole that goes
/// on from it.
std::set<segment::VersionId> relied_on(const StoreFacts& facts, const std::vector<Holding>& holdings);

}  // namespace perdure::node
