#include "node/holdings.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace perdure::node {
namespace {

// A node that alone captured a version, and lacks a piece of it, never agreed on it with anybody.
bool may_be_committed(const catalog::HeldVersion& held) {
  return held.nodes.size() != 1 || held.pieces.size() == held.ranks;
}

Holding::Part part_of(const catalog::HeldVersion& held) {
  if (held.all_stored()) return Holding::Part::stored;
  return held.committed || may_be_committed(held) ? Holding::Part::unstored : Holding::Part::none;
}

std::uint64_t kept_bytes(const catalog::RedundancySet& redundancy_set) {
  std::uint64_t bytes = 0;
  for (const auto& [name, block] : redundancy_set.kept) bytes += block.length;
  return bytes;
}

/// Returns the newest whole version that goes on from the holding.
const segment::VersionId* successor(const StoreFacts& facts, const Holding& holding) {
  const segment::VersionId* newest = nullptr;
  for (const auto& one : facts.whole) {
    const auto line = plan::line_of(facts.forks, plan::branch_of(one.attempt.nonce));
    if (!(holding.id.attempt < one.attempt) || !plan::on_line(line, holding.id.attempt)) continue;
    if (newest == nullptr || newest->attempt < one.attempt) newest = &one;
  }
  return newest;
}

}  // namespace

std::string Holding::text() const { return id.text() + " (" + base::format_bytes(bytes) + ")"; }

std::vector<Holding> holdings_of(const catalog::State& state) {
  std::map<segment::VersionId, Holding> holdings;
  for (const auto& [id, held] : state.versions) {
    Holding& holding = holdings[id];
    holding.bytes += held.bytes();
    holding.part = part_of(held);
  }
  for (const auto& [id, redundancy_set] : state.redundancy_sets) {
    Holding& holding = holdings[id.version];
    holding.bytes += kept_bytes(redundancy_set);
    holding.kept_for_others = true;
  }
  std::vector<Holding> list;
  for (auto& [id, holding] : holdings) {
    holding.id = id;
    list.push_back(holding);
  }
  return list;
}

bool makes_up_for(const StoreFacts& facts, const Holding& holding) {
  if (!holding.needs_store() || facts.whole.contains(holding.id)) return true;
  if (holding.id.attempt.created_ns <= facts.forgotten_ns) return true;
  const bool was_there = holding.part != Holding::Part::unstored && !facts.set_aside.contains(holding.id);
  return was_there && successor(facts, holding) != nullptr;
}

std::set<segment::VersionId> relied_on(const StoreFacts& facts, const std::vector<Holding>& holdings) {
  std::set<segment::VersionId> ids;
  for (const Holding& holding : holdings) {
    if (facts.whole.contains(holding.id))
      ids.insert(holding.id);
    else if (const auto* newer = successor(facts, holding); newer != nullptr)
      ids.insert(*newer);
  }
  return ids;
}

}  // namespace perdure::node
