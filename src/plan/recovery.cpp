#include "plan/recovery.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "redundancy/block_order.hpp"
#include "redundancy/registry.hpp"

namespace perdure::plan {
namespace {

using redundancy::Item;

/// One group of one epoch, as the parts that are left of it say.
class Group {
 public:
  Group(const VersionInventory& inventory, std::size_t first) : inventory_(inventory), first_(first) {
    const RedundancyShare& part = inventory.kept[first];
    if (auto scheme = redundancy::find_scheme(part.scheme)) scheme_ = *scheme;
    state_.n = static_cast<unsigned>(part.members.size());
    state_.m = part.parities;
    for (const auto& member : part.members) {
      std::vector<std::uint64_t> chunks(member.size());
      std::transform(member.begin(), member.end(), chunks.begin(), [](const auto& rank) { return rank.chunks; });
      orders_.emplace_back(chunks);
      state_.blocks.push_back(orders_.back().count());
    }
    for (unsigned position = 0; position < state_.n; ++position) look_at_data(position);
    for (unsigned position = 0; position <= state_.n; ++position) look_at_kept(position);
  }

  std::size_t part() const { return first_; }
  bool has(std::uint32_t rank) const { return find(rank).has_value(); }
  /// Nothing when all of the rank's blocks can be had.
  std::optional<std::string> why_not(std::uint32_t rank) const {
    const auto at = find(rank);
    if (scheme_ == nullptr || !at) return "its redundancy is of an unknown scheme";
    const auto [position, index] = *at;
    const std::uint64_t chunks = members()[position][index].chunks;
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      const redundancy::Block block{position, orders_[position].block({index, chunk})};
      const auto restoration = scheme_->restore(state_, block);
      if (!redundancy::restorable(restoration))
        return "chunk " + std::to_string(chunk) + " " + redundancy::restoration_text(restoration);
    }
    return std::nullopt;
  }

 private:
  const std::vector<std::vector<ReplicatedRank>>& members() const { return inventory_.kept[first_].members; }
  std::optional<std::pair<unsigned, std::uint32_t>> find(std::uint32_t rank) const {
    for (unsigned position = 0; position < members().size(); ++position)
      for (std::uint32_t index = 0; index < members()[position].size(); ++index)
        if (members()[position][index].rank == rank) return std::pair{position, index};
    return std::nullopt;
  }
  // Wherever the ranks of a position are held now: only that they are counts.
  void look_at_data(unsigned position) {
    for (std::uint32_t index = 0; index < members()[position].size(); ++index) {
      const auto& member = members()[position][index];
      if (member.rank < inventory_.nodes_of_rank.size() && !inventory_.nodes_of_rank[member.rank].empty()) continue;
      for (std::uint64_t chunk = 0; chunk < member.chunks; ++chunk)
        state_.damaged.insert({Item::Kind::data, position, orders_[position].block({index, chunk})});
    }
  }
  void look_at_kept(unsigned position) {
    const RedundancyShare& model = inventory_.kept[first_];
    const auto part = std::find_if(inventory_.kept.begin(), inventory_.kept.end(), [&](const RedundancyShare& other) {
      return other.epoch == model.epoch && other.group == model.group && other.position == position &&
             other.members == model.members && other.parities == model.parities && other.scheme == model.scheme;
    });
    if (part != inventory_.kept.end()) {
      for (const std::uint64_t number : part->missing) state_.damaged.insert({Item::Kind::kept, position, number});
      return;
    }
    if (scheme_ == nullptr) return;
    for (const auto& kept : scheme_->map(state_.n, state_.m)->kept(position, state_.blocks))
      state_.damaged.insert({Item::Kind::kept, position, kept.number});
  }

  const VersionInventory& inventory_;
  std::size_t first_;
  const redundancy::Scheme* scheme_ = nullptr;
  redundancy::GroupState state_;
  std::vector<redundancy::BlockOrder> orders_;
};

/// One of each group; of a group whose parts contradict each other, one of each opinion.
std::vector<Group> groups_of(const VersionInventory& inventory) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < inventory.kept.size(); ++i) {
    const RedundancyShare& part = inventory.kept[i];
    const bool seen = std::any_of(inventory.kept.begin(), inventory.kept.begin() + static_cast<std::ptrdiff_t>(i),
                                  [&](const RedundancyShare& before) {
                                    return before.epoch == part.epoch && before.group == part.group &&
                                           before.members == part.members && before.scheme == part.scheme &&
                                           before.parities == part.parities;
                                  });
    if (!seen) groups.emplace_back(inventory, i);
  }
  return groups;
}

PieceSource lost_piece(const std::vector<Group>& groups, std::uint32_t rank) {
  PieceSource source;
  source.why = "no node keeps anything for its rank " + std::to_string(rank);
  for (const Group& group : groups) {
    if (!group.has(rank)) continue;
    const auto why = group.why_not(rank);
    if (!why) return {PieceSource::Kind::rebuild, 0, group.part(), {}};
    source.why = "rank " + std::to_string(rank) + ", " + *why;
  }
  return source;
}

}  // namespace

std::vector<PieceSource> plan_recovery(const VersionInventory& inventory, const std::vector<std::uint32_t>& nodes_now) {
  std::optional<std::vector<Group>> groups;  // made when the first piece is lost
  std::vector<PieceSource> sources;
  for (std::uint32_t rank = 0; rank < inventory.nodes_of_rank.size(); ++rank) {
    const auto& nodes = inventory.nodes_of_rank[rank];
    const std::uint32_t here = rank < nodes_now.size() ? nodes_now[rank] : 0;
    const bool half_flushed = rank < inventory.half_flushed.size() && inventory.half_flushed[rank];
    if (half_flushed || std::find(nodes.begin(), nodes.end(), here) != nodes.end()) {
      sources.push_back({PieceSource::Kind::in_place, here, 0, {}});
    } else if (!nodes.empty()) {
      sources.push_back({PieceSource::Kind::move, nodes.front(), 0, {}});
    } else {
      if (!groups) groups = groups_of(inventory);
      sources.push_back(lost_piece(*groups, rank));
    }
    PieceSource& source = sources.back();
    const bool stored = rank < inventory.stored.size() && inventory.stored[rank];
    if (source.kind == PieceSource::Kind::nowhere && stored) source.kind = PieceSource::Kind::store;
  }
  return sources;
}

std::vector<NodeQuestion> nodes_to_ask(const VersionInventory& inventory, const std::vector<std::uint32_t>& wanted) {
  std::map<std::uint32_t, std::set<std::uint32_t>> pieces, redundancy;  // by node
  const std::set<std::uint32_t> lost(wanted.begin(), wanted.end());
  std::set<std::uint32_t> of_use = lost;
  for (const RedundancyShare& share : inventory.kept) {
    std::vector<std::uint32_t> members, served;
    for (const auto& position : share.members)
      for (const auto& member : position) {
        members.push_back(member.rank);
        if (lost.contains(member.rank)) served.push_back(member.rank);
      }
    if (served.empty()) continue;
    redundancy[share.node].insert(served.begin(), served.end());
    of_use.insert(members.begin(), members.end());
    // Its own pieces may have good chunks, where the inventory counts them as lost for a damaged one.
    if (share.position < share.members.size())
      for (const auto& own : share.members[share.position]) pieces[share.node].insert(own.rank);
  }
  for (const std::uint32_t rank : of_use)
    if (rank < inventory.nodes_of_rank.size())
      for (const std::uint32_t node : inventory.nodes_of_rank[rank]) pieces[node].insert(rank);
  std::map<std::uint32_t, NodeQuestion> questions;
  for (const auto& [node, ranks] : pieces) questions[node].pieces.assign(ranks.begin(), ranks.end());
  for (const auto& [node, ranks] : redundancy) questions[node].redundancy.assign(ranks.begin(), ranks.end());
  std::vector<NodeQuestion> list;
  for (auto& [node, question] : questions) {
    question.node = node;
    list.push_back(std::move(question));
  }
  return list;
}

}  // namespace perdure::plan
