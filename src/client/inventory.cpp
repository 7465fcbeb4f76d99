#include "client/inventory.hpp"

#include <algorithm>
#include <tuple>

#include "base/field_codec.hpp"
#include "client/job.hpp"
#include "plan/writer_places.hpp"

namespace perdure::client {
namespace {

using plan::PieceSource;

std::vector<ToldVersion::Segment> segments_to_tell(const std::vector<ipc::PlannedSegment>& segments) {
  std::vector<ToldVersion::Segment> told;
  for (const auto& segment : segments)
    told.push_back({segment.index, segment.count, base::Runs<std::uint32_t>(segment.ranks)});
  return told;
}

ToldShare share_to_tell(std::uint32_t node, const ipc::RedundancySummary& kept) {
  ToldShare told{kept.id, {node, kept.epoch, kept.group, kept.scheme, kept.parities, kept.position, {}}};
  for (const auto& position : kept.members) {
    std::vector<plan::ReplicatedRank> members;
    for (const auto& member : position) members.push_back({member.rank, member.chunks});
    told.share.members.emplace_back(members);
  }
  told.share.missing = base::Runs<std::uint64_t>(kept.missing);
  return told;
}

// Marks the ranks whose data the store has.
void add_stored(plan::VersionInventory& inventory, std::uint32_t ranks, const StoredVersionView& stored) {
  if (stored.ranks != ranks) return;
  inventory.stored.resize(ranks);
  for (const auto& segment : stored.segments)
    segment.ranks.for_each([&](std::uint32_t rank) {
      if (rank < ranks) inventory.stored[rank] = true;
    });
}

plan::VersionInventory inventory_of(const segment::VersionId& id, const JobInventory& all, const StoreView& store,
                                    const std::vector<std::uint32_t>& node_of_rank, bool network) {
  plan::VersionInventory inventory;
  const auto ranks = static_cast<std::uint32_t>(node_of_rank.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;
  pieces.reserve(ranks);
  for (const auto& holding : all.held) {
    if (holding.held.id != id) continue;
    holding.held.held.for_each([&](std::uint32_t rank) {
      if (rank < ranks && (network || holding.node == node_of_rank[rank])) pieces.emplace_back(rank, holding.node);
    });
    if (!holding.held.committed || holding.held.spilled.empty()) continue;
    inventory.half_flushed.resize(ranks);
    holding.held.spilled.for_each([&](std::uint32_t rank) {
      if (rank < ranks && holding.node == node_of_rank[rank]) inventory.half_flushed[rank] = true;
    });
  }
  inventory.holders = plan::PieceHolders(ranks, std::move(pieces));
  if (const auto kept = all.shares.find(id); network && kept != all.shares.end()) inventory.kept = kept->second;
  if (const auto* stored = store.find(id); stored != nullptr) add_stored(inventory, ranks, *stored);
  return inventory;
}

// If nothing comes from other nodes, a node's data is of use only if there is no other node.
void place(VersionPlan& plan, const segment::VersionId& id, const JobInventory& all, bool fetched,
           std::uint32_t nodes) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;
  if (fetched || nodes == 1)
    for (const auto& holding : all.held)
      if (holding.held.id == id)
        for (const auto* ranks : {&holding.held.held, &holding.held.spilled})
          ranks->for_each([&](std::uint32_t rank) {
            if (rank < plan.ranks) pieces.emplace_back(rank, holding.node);
          });
  plan.node_of_rank = plan::place_writers(plan::PieceHolders(plan.ranks, std::move(pieces)), nodes);
  constexpr std::uint32_t kNoNode = ~std::uint32_t{0};
  if (!fetched && nodes > 1) plan.node_of_rank.assign(plan.ranks, kNoNode);
}

/// The facts that the plans of all versions follow from.
struct PlanFacts {
  const JobInventory& all;
  const StoreView& store;
  const std::vector<std::uint32_t>& node_of_rank;
  bool network = false;
};

// Plans how each rank gets its data. `fetches`: other nodes' data can be had.
void plan_pieces(const segment::VersionId& id, VersionPlan& plan, const PlanFacts& facts, bool fetches) {
  const auto pieces_for = [&](const std::vector<std::uint32_t>& node_of_rank, bool network) {
    return plan::plan_recovery(inventory_of(id, facts.all, facts.store, node_of_rank, network), node_of_rank);
  };
  if (plan.ranks != facts.node_of_rank.size()) {
    const bool fetched = facts.network && fetches;
    place(plan, id, facts.all, fetched, 1 + *std::max_element(facts.node_of_rank.begin(), facts.node_of_rank.end()));
    plan.pieces = pieces_for(plan.node_of_rank, fetched);
    plan.on_nodes = plan.on_nodes && fetched;
    return;
  }
  if (!fetches) {
    plan.pieces = pieces_for(facts.node_of_rank, false);
    plan.on_nodes = plan.on_nodes && !plan.pieces.whole();
    if (plan.pieces.whole()) return;
  }
  plan.pieces = pieces_for(facts.node_of_rank, facts.network);
}

bool serves(const plan::RedundancyShare& share, const std::vector<bool>& ranks) {
  bool any = false;
  for (const auto& position : share.members)
    position.ranks().for_each([&](std::uint32_t rank) { any = any || (rank < ranks.size() && ranks[rank]); });
  return any;
}

std::vector<bool> lost_ranks(const plan::RecoveryPlan& plan) {
  std::vector<bool> lost;
  for (const PieceSource source : plan.of_rank)
    lost.push_back(source == PieceSource::nowhere || source == PieceSource::store);
  return lost;
}

}  // namespace

ToldHoldings holdings_to_tell(const ipc::Holdings& reply, std::uint32_t node, std::size_t nodes) {
  ToldHoldings told;
  using Ranks = base::Runs<std::uint32_t>;
  for (const auto& held : reply.held)
    told.held.push_back({held.id, held.ranks, held.committed, held.stored, Ranks(held.held), Ranks(held.spilled),
                         Ranks(held.unreachable), segments_to_tell(held.begun), segments_to_tell(held.segments),
                         held.capture_nodes, held.capturing});
  std::vector<ToldShare> shares;
  for (const auto& kept : reply.kept.value_or(std::vector<ipc::RedundancySummary>())) {
    shares.push_back(share_to_tell(node, kept));
    const bool known = std::any_of(told.kept.begin(), told.kept.end(), [&](const auto& k) { return k.id == kept.id; });
    if (!known) told.kept.push_back({kept.id, kept.ranks});
  }
  if (nodes * base::encode_fields(shares).size() <= kInlineShares) told.shares = std::move(shares);
  return told;
}

void JobInventory::add(std::uint32_t node, ToldHoldings told) {
  for (auto& version : told.held) held.push_back({node, std::move(version)});
  for (auto& version : told.kept) {
    if (!told.shares) untold.insert(version.id);
    kept.emplace_back(node, std::move(version));
  }
  if (!told.shares) return;
  for (auto& [id, share] : *told.shares) shares[id].push_back(std::move(share));
}

base::Result<JobInventory> gather_inventories(Job& job) {
  std::vector<std::byte> mine;
  PERDURE_CHECK(agree_after(job.comm(), "inventory", [&]() -> base::Status {
    if (!job.leads()) return {};
    PERDURE_TRY(const auto reply, job.engine().channel().call(ipc::Inventory{"", false, job.nodes().launch}));
    mine = base::encode_fields(holdings_to_tell(reply, job.nodes().mine, job.nodes().labels.size()));
    return {};
  }));
  JobInventory all;
  PERDURE_CHECK(
      comm::tell_all(job.comm(), job.leader(), mine, [&](std::size_t node, base::ConstByteSpan bytes) -> base::Status {
        PERDURE_TRY(auto told, base::decode_fields<ToldHoldings>(bytes, "inventory"));
        all.add(static_cast<std::uint32_t>(node), std::move(told));
        return {};
      }));
  return all;
}

std::vector<plan::SegmentPart> committed_parts(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::vector<plan::SegmentPart> parts;
  for (const auto& [node, held] : all)
    if (held.id == id)
      for (const auto& segment : held.segments) parts.push_back({segment.index, segment.count, segment.ranks.list()});
  return parts;
}

std::vector<plan::SegmentPart> known_parts(const segment::VersionId& id, const JobInventory& all,
                                           const StoreView& store) {
  auto known = committed_parts(all.held, id);
  const auto stored = store.parts_of(id);
  known.insert(known.end(), stored.begin(), stored.end());
  return known;
}

VersionPlans plan_versions(const JobInventory& all, const StoreView& store,
                           const std::vector<std::uint32_t>& node_of_rank, bool network,
                           const std::set<segment::VersionId>& not_fetched, bool any_ranks) {
  VersionPlans plans;
  const auto ranks = static_cast<std::uint32_t>(node_of_rank.size());
  const auto note = [&](const segment::VersionId& id, std::uint32_t of_version, bool on_nodes, bool tells_others) {
    if (of_version == ranks || any_ranks) {
      auto& plan = plans.of[id];
      plan.ranks = std::max(plan.ranks, of_version);
      plan.on_nodes = plan.on_nodes || on_nodes;
    } else if (tells_others) {
      plans.other_ranks = of_version;
    }
  };
  for (const auto& [node, held] : all.held) note(held.id, held.ranks, network, network);
  if (network)
    for (const auto& [node, kept] : all.kept) note(kept.id, kept.ranks, true, true);
  for (const auto& stored : store.versions) note(stored.id, stored.ranks, false, true);
  std::erase_if(plans.of,
                [](const auto& entry) { return entry.second.ranks == 0; });  // nobody could read how many ranks it has
  const PlanFacts facts{all, store, node_of_rank, network};
  for (auto& [id, plan] : plans.of) plan_pieces(id, plan, facts, !not_fetched.contains(id));
  return plans;
}

bool Candidates::contain(const segment::VersionId& id) const {
  return !excluded.contains(id) && (version < 0 || id.version == static_cast<std::uint64_t>(version)) &&
         (line.empty() || plan::on_line(line, id.attempt));
}

std::optional<segment::VersionId> choose_version(const VersionPlans& plans, const Candidates& candidates) {
  const segment::VersionId* newest = nullptr;
  for (const auto& [id, plan] : plans.of)
    if (candidates.contain(id) && plan.pieces.whole() &&
        (newest == nullptr || std::tie(newest->attempt, newest->version) < std::tie(id.attempt, id.version)))
      newest = &id;
  return newest == nullptr ? std::nullopt : std::optional(*newest);
}

Wanting wanting(const VersionPlans& plans, const JobInventory& all, const Candidates& candidates) {
  const auto without = choose_version(plans, candidates);
  Wanting wanting;
  for (const auto& [id, plan] : plans.of) {
    const bool older = without && id.attempt < without->attempt;
    if (older || !plan.on_nodes || !candidates.contain(id) || !all.untold.contains(id)) continue;
    std::vector<bool> ranks;
    for (const PieceSource source : plan.pieces.of_rank) ranks.push_back(source != PieceSource::in_place);
    if (std::find(ranks.begin(), ranks.end(), true) != ranks.end()) wanting[id] = std::move(ranks);
  }
  return wanting;
}

std::vector<ToldShare> shares_to_tell(std::uint32_t node, const std::vector<ipc::RedundancySummary>& kept,
                                      const Wanting& wanting) {
  std::vector<ToldShare> shares;
  for (const auto& summary : kept) {
    const auto wanted = wanting.find(summary.id);
    if (wanted == wanting.end()) continue;
    auto told = share_to_tell(node, summary);
    if (serves(told.share, wanted->second)) shares.push_back(std::move(told));
  }
  return shares;
}

base::Status gather_shares(comm::Communicator& comm, const comm::Speaker& leader, const std::vector<ToldShare>& mine,
                           const Wanting& wanting, bool keeps_all, JobInventory& all, const StoreView& store,
                           const std::vector<std::uint32_t>& node_of_rank, VersionPlans& plans) {
  std::map<segment::VersionId, std::vector<bool>> lost;
  for (const auto& entry : wanting) lost[entry.first] = lost_ranks(plans.of.at(entry.first).pieces);
  const std::vector<std::byte> told = mine.empty() ? std::vector<std::byte>() : base::encode_fields(mine);
  PERDURE_CHECK(comm::tell_all(comm, leader, told, [&](std::size_t, base::ConstByteSpan bytes) -> base::Status {
    PERDURE_TRY(auto shares, base::decode_fields<std::vector<ToldShare>>(bytes, "redundancy"));
    for (auto& [id, share] : shares)
      if (const auto of = lost.find(id); of != lost.end() && (keeps_all || serves(share, of->second)))
        all.shares[id].push_back(std::move(share));
    return {};
  }));
  for (const auto& entry : wanting) {
    auto& plan = plans.of.at(entry.first);
    const auto& nodes = plan.node_of_rank.empty() ? node_of_rank : plan.node_of_rank;
    plan.pieces = plan::plan_recovery(inventory_of(entry.first, all, store, nodes, true), nodes);
  }
  return {};
}

std::vector<plan::NodeQuestion> nodes_to_ask(const segment::VersionId& id, const JobInventory& all,
                                             const StoreView& store, const std::vector<std::uint32_t>& node_of_rank,
                                             const std::vector<std::uint32_t>& wanted) {
  return plan::nodes_to_ask(inventory_of(id, all, store, node_of_rank, true), wanted);
}

bool to_fetch(PieceSource source) { return source == PieceSource::move || source == PieceSource::rebuild; }

}  // namespace perdure::client
