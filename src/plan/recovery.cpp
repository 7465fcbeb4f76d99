#include "plan/recovery.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "redundancy/block_order.hpp"
#include "redundancy/registry.hpp"

namespace perdure::plan {
namespace {

using redundancy::Item;
using Shares = std::vector<const RedundancyShare*>;

bool alike(const RedundancyShare& a, const RedundancyShare& b) {
  return a.scheme == b.scheme && a.parities == b.parities && a.members == b.members;
}

/// One group of one epoch, reconstructed from its surviving parts.
class Group {
 public:
  /// `shares` has all shares of its number and epoch, also those that contradict `model`.
  Group(const PieceHolders& holders, const Shares& shares, const RedundancyShare& model) : model_(model) {
    if (auto scheme = redundancy::find_scheme(model.scheme)) scheme_ = *scheme;
    state_.n = static_cast<unsigned>(model.members.size());
    state_.m = model.parities;
    for (const auto& position : model.members) {
      members_.push_back(position.list());
      std::vector<std::uint64_t> chunks;
      for (const auto& member : members_.back()) chunks.push_back(member.chunks);
      orders_.emplace_back(chunks);
      state_.blocks.push_back(orders_.back().count());
    }
    if (state_.n > redundancy::kMaxItems) scheme_ = nullptr;  // no scheme has such large groups
    for (unsigned position = 0; scheme_ != nullptr && position <= state_.n; ++position)
      look_at(holders, shares, position);
  }

  const std::vector<std::vector<ReplicatedRank>>& members() const { return members_; }
  /// Returns why that rank's blocks cannot be restored; nothing if they can.
  std::optional<std::string> why_not(unsigned position, std::uint32_t index) const {
    if (scheme_ == nullptr) return "its redundancy is of an unknown scheme";
    for (std::uint64_t chunk = 0; chunk < members_[position][index].chunks; ++chunk) {
      const redundancy::Block block{position, orders_[position].block({index, chunk})};
      const auto restoration = scheme_->restore(state_, block);
      if (!redundancy::restorable(restoration))
        return "chunk " + std::to_string(chunk) + " " + redundancy::restoration_text(restoration);
    }
    return std::nullopt;
  }

 private:
  // Counts the ranks of a position on whatever nodes hold them. A position without any is lost as a whole, without a
  // list of its blocks. (Position `n` is the server's, if there is one.)
  void look_at(const PieceHolders& holders, const Shares& shares, unsigned position) {
    const auto share = std::find_if(shares.begin(), shares.end(), [&](const RedundancyShare* other) {
      return other->position == position && alike(*other, model_);
    });
    const bool nothing_held = position == state_.n || std::none_of(members_[position].begin(), members_[position].end(),
                                                                   [&](const auto& m) { return holders.any(m.rank); });
    if (share == shares.end() && nothing_held) {
      state_.lost.set(position);
      return;
    }
    if (position < state_.n) look_at_data(holders, position);
    if (share != shares.end())
      (*share)->missing.for_each([&](std::uint64_t number) {
        state_.damaged.insert({Item::Kind::kept, position, number});
      });
    else
      for (const auto& kept : scheme_->map(state_.n, state_.m)->kept(position, state_.blocks))
        state_.damaged.insert({Item::Kind::kept, position, kept.number});
  }
  void look_at_data(const PieceHolders& holders, unsigned position) {
    for (std::uint32_t index = 0; index < members_[position].size(); ++index) {
      const auto& member = members_[position][index];
      if (holders.any(member.rank)) continue;
      for (std::uint64_t chunk = 0; chunk < member.chunks; ++chunk)
        state_.damaged.insert({Item::Kind::data, position, orders_[position].block({index, chunk})});
    }
  }

  const RedundancyShare& model_;
  std::vector<std::vector<ReplicatedRank>> members_;
  const redundancy::Scheme* scheme_ = nullptr;
  redundancy::GroupState state_;
  std::vector<redundancy::BlockOrder> orders_;
};

/// Calls use(group) for each group that has one of these ranks, one after the other. If the parts of a group contradict
/// each other, it is called once for each version of the group.
template <class Use>
void for_groups_of(const VersionInventory& inventory, const std::vector<bool>& ranks, const Use& use) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, Shares> by_group;
  for (const auto& share : inventory.kept) by_group[{share.epoch, share.group}].push_back(&share);
  const auto concerned = [&](const RedundancyShare& share) {
    bool any = false;
    for (const auto& position : share.members)
      position.ranks().for_each([&](std::uint32_t rank) { any = any || (rank < ranks.size() && ranks[rank]); });
    return any;
  };
  for (const auto& entry : by_group) {
    const Shares& shares = entry.second;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const bool seen = std::any_of(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const RedundancyShare* before) { return alike(*before, *shares[i]); });
      if (!seen && concerned(*shares[i])) use(Group(inventory.holders, shares, *shares[i]));
    }
  }
}

/// Calls use(rank, position, index) for those members of the group that are among `ranks`.
template <class Use>
void for_members(const Group& group, const std::vector<bool>& ranks, const Use& use) {
  for (unsigned position = 0; position < group.members().size(); ++position)
    for (std::uint32_t index = 0; index < group.members()[position].size(); ++index)
      if (const std::uint32_t rank = group.members()[position][index].rank; rank < ranks.size() && ranks[rank])
        use(rank, position, index);
}

std::string why_lost(const VersionInventory& inventory, std::uint32_t rank) {
  std::string why = "no node keeps anything for its rank " + std::to_string(rank);
  std::vector<bool> only(inventory.holders.ranks());
  only[rank] = true;
  for_groups_of(inventory, only, [&](const Group& group) {
    for_members(group, only, [&](std::uint32_t, unsigned position, std::uint32_t index) {
      if (const auto reason = group.why_not(position, index)) why = "rank " + std::to_string(rank) + ", " + *reason;
    });
  });
  return why;
}

}  // namespace

PositionRanks::PositionRanks(const std::vector<ReplicatedRank>& ascending) {
  for (const auto& member : ascending) {
    ranks_.add(member.rank);
    if (chunks_.empty() || chunks_.back().each != member.chunks) chunks_.push_back({0, member.chunks});
    ++chunks_.back().ranks;
  }
}

std::vector<ReplicatedRank> PositionRanks::list() const {
  std::vector<ReplicatedRank> members;
  members.reserve(ranks_.size());
  ranks_.for_each([&](std::uint32_t rank) { members.push_back({rank, 0}); });
  auto next = members.begin();
  for (const auto& chunks : chunks_)
    for (std::uint32_t i = 0; i < chunks.ranks && next != members.end(); ++i) (next++)->chunks = chunks.each;
  return members;
}

std::string PositionRanks::wrong() const {
  std::uint64_t counted = 0;
  for (const auto& chunks : chunks_) counted += chunks.ranks;
  return counted == ranks_.size() ? "" : "field 'chunks_' is not of as many ranks as there are";
}

PieceHolders::PieceHolders(std::uint32_t ranks, std::vector<std::pair<std::uint32_t, std::uint32_t>> held)
    : ranks_(ranks), held_(std::move(held)) {
  std::sort(held_.begin(), held_.end());
  held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
}

std::vector<std::uint32_t> PieceHolders::of(std::uint32_t rank) const {
  std::vector<std::uint32_t> nodes;
  for (auto it = std::lower_bound(held_.begin(), held_.end(), std::pair(rank, std::uint32_t{0}));
       it != held_.end() && it->first == rank; ++it)
    nodes.push_back(it->second);
  return nodes;
}

bool PieceHolders::any(std::uint32_t rank) const {
  const auto it = std::lower_bound(held_.begin(), held_.end(), std::pair(rank, std::uint32_t{0}));
  return it != held_.end() && it->first == rank;
}

bool PieceHolders::on(std::uint32_t rank, std::uint32_t node) const {
  return std::binary_search(held_.begin(), held_.end(), std::pair(rank, node));
}

RecoveryPlan plan_recovery(const VersionInventory& inventory, const std::vector<std::uint32_t>& nodes_now) {
  const std::uint32_t ranks = inventory.holders.ranks();
  RecoveryPlan plan{std::vector<PieceSource>(ranks)};
  std::vector<bool> lost(ranks);
  bool any_lost = false;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t here = rank < nodes_now.size() ? nodes_now[rank] : 0;
    const bool half_flushed = rank < inventory.half_flushed.size() && inventory.half_flushed[rank];
    if (half_flushed || inventory.holders.on(rank, here))
      plan.of_rank[rank] = PieceSource::in_place;
    else if (inventory.holders.any(rank))
      plan.of_rank[rank] = PieceSource::move;
    else
      any_lost = lost[rank] = true;
  }
  if (!any_lost) return plan;
  for_groups_of(inventory, lost, [&](const Group& group) {
    for_members(group, lost, [&](std::uint32_t rank, unsigned position, std::uint32_t index) {
      if (plan.of_rank[rank] == PieceSource::nowhere && !group.why_not(position, index))
        plan.of_rank[rank] = PieceSource::rebuild;
    });
  });
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (plan.of_rank[rank] != PieceSource::nowhere) continue;
    if (rank < inventory.stored.size() && inventory.stored[rank])
      plan.of_rank[rank] = PieceSource::store;
    else if (!plan.lost)
      plan.lost = why_lost(inventory, rank);
  }
  return plan;
}

std::vector<NodeQuestion> nodes_to_ask(const VersionInventory& inventory, const std::vector<std::uint32_t>& wanted) {
  std::map<std::uint32_t, std::set<std::uint32_t>> pieces, redundancy;  // by node
  const std::set<std::uint32_t> lost(wanted.begin(), wanted.end());
  std::set<std::uint32_t> of_use = lost;
  for (const RedundancyShare& share : inventory.kept) {
    std::vector<std::uint32_t> members, served;
    for (const auto& position : share.members)
      position.ranks().for_each([&](std::uint32_t rank) {
        members.push_back(rank);
        if (lost.contains(rank)) served.push_back(rank);
      });
    if (served.empty()) continue;
    redundancy[share.node].insert(served.begin(), served.end());
    of_use.insert(members.begin(), members.end());
    // Its own pieces may have good chunks even if the inventory counts them as lost for a damaged one.
    if (share.position < share.members.size())
      share.members[share.position].ranks().for_each([&](std::uint32_t rank) { pieces[share.node].insert(rank); });
  }
  for (const std::uint32_t rank : of_use)
    for (const std::uint32_t node : inventory.holders.of(rank)) pieces[node].insert(rank);
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
