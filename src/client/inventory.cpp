#include "client/inventory.hpp"

#include <algorithm>

#include "base/field_codec.hpp"
#include "client/job.hpp"
#include "plan/selection.hpp"

namespace perdure::client {
namespace {

using Kind = plan::PieceSource::Kind;

plan::RedundancyShare share_of(std::uint32_t node, const ipc::RedundancySummary& kept) {
  plan::RedundancyShare part{node, kept.epoch, kept.group, kept.scheme, kept.parities, kept.position, {}, {}};
  for (const auto& position : kept.members) {
    auto& members = part.members.emplace_back();
    for (const auto& member : position) members.push_back({member.rank, member.chunks});
  }
  part.missing.insert(kept.missing.begin(), kept.missing.end());
  return part;
}

plan::VersionInventory inventory_of(const segment::VersionId& id, const JobInventory& all, const StoreView& store,
                                    const std::vector<std::uint32_t>& node_of_rank, bool network) {
  plan::VersionInventory inventory;
  const std::size_t ranks = node_of_rank.size();
  inventory.nodes_of_rank.resize(ranks);
  inventory.half_flushed.resize(ranks);
  for (const auto& [node, held] : all.held) {
    if (held.id != id) continue;
    for (const std::uint32_t rank : held.held)
      if (rank < ranks && (network || node == node_of_rank[rank])) inventory.nodes_of_rank[rank].push_back(node);
    for (const std::uint32_t rank : held.spilled)
      if (rank < ranks && held.committed && node == node_of_rank[rank]) inventory.half_flushed[rank] = true;
  }
  for (const auto& [node, kept] : all.kept)
    if (network && kept.id == id) inventory.kept.push_back(share_of(node, kept));
  const auto* stored = store.find(id);
  if (stored == nullptr || stored->ranks != ranks) return inventory;
  inventory.stored.resize(ranks);
  for (const auto& segment : stored->segments)
    for (const std::uint32_t rank : segment.ranks)
      if (rank < ranks) inventory.stored[rank] = true;
  return inventory;
}

plan::Candidate candidate(const segment::VersionId& id) {
  return {id.version, id.attempt.created_ns, id.attempt.nonce};
}

}  // namespace

void JobInventory::add(std::uint32_t node, ipc::Holdings reply) {
  for (auto& summary : reply.held) held.push_back({node, std::move(summary)});
  if (!reply.kept) return;
  for (auto& summary : *reply.kept) kept.emplace_back(node, std::move(summary));
}

base::Result<JobInventory> gather_inventories(Job& job, const ipc::Inventory& question) {
  using Answer = std::optional<ipc::Holdings>;  // nothing: no leader
  Answer mine;
  PERDURE_CHECK(agree_after(job.comm(), "inventory", [&]() -> base::Status {
    if (!job.leads()) return {};
    PERDURE_TRY(mine, job.engine().channel().call(question));
    return {};
  }));
  PERDURE_TRY(const auto bytes, comm::allgather_bytes(job.comm(), base::encode_fields(mine)));
  JobInventory all;
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
    PERDURE_TRY(auto told, base::decode_fields<Answer>(bytes[rank], "inventory"));
    if (told) all.add(job.nodes().node_of_rank[rank], std::move(*told));
  }
  return all;
}

std::vector<plan::SegmentPart> committed_parts(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::vector<plan::SegmentPart> parts;
  for (const auto& [node, held] : all)
    if (held.id == id)
      for (const auto& segment : held.segments) parts.push_back({segment.index, segment.count, segment.ranks});
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
                           const std::vector<std::uint32_t>& node_of_rank, bool network) {
  VersionPlans plans;
  const auto ranks = static_cast<std::uint32_t>(node_of_rank.size());
  const auto note = [&](const segment::VersionId& id, std::uint32_t of_version, bool on_nodes, bool tells_others) {
    if (of_version == ranks) {
      auto& plan = plans.of[id];
      plan.on_nodes = plan.on_nodes || on_nodes;
    } else if (tells_others) {
      plans.other_ranks = of_version;
    }
  };
  for (const auto& [node, held] : all.held) note(held.id, held.ranks, network, network);
  if (network)
    for (const auto& [node, kept] : all.kept) note(kept.id, kept.ranks, true, true);
  for (const auto& stored : store.versions) note(stored.id, stored.ranks, false, true);
  for (auto& [id, plan] : plans.of)
    plan.sources = plan::plan_recovery(inventory_of(id, all, store, node_of_rank, network), node_of_rank);
  return plans;
}

std::optional<segment::VersionId> choose_version(const VersionPlans& plans, std::int64_t version,
                                                 const std::set<segment::VersionId>& excluded, std::uint32_t ranks) {
  std::vector<std::vector<plan::Candidate>> lists(ranks);
  std::string name;
  for (const auto& [id, plan] : plans.of) {
    name = id.name;
    if (excluded.contains(id) || (version >= 0 && id.version != static_cast<std::uint64_t>(version))) continue;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      if (plan.sources[rank].kind != Kind::nowhere) lists[rank].push_back(candidate(id));
  }
  const auto chosen = plan::newest_common(lists);
  if (!chosen) return std::nullopt;
  return segment::VersionId{name, chosen->version, {chosen->attempt_time, chosen->attempt_nonce}};
}

std::vector<plan::NodeQuestion> nodes_to_ask(const segment::VersionId& id, const JobInventory& all,
                                             const StoreView& store, const std::vector<std::uint32_t>& node_of_rank,
                                             const std::vector<std::uint32_t>& wanted) {
  return plan::nodes_to_ask(inventory_of(id, all, store, node_of_rank, true), wanted);
}

bool to_fetch(const plan::PieceSource& source) { return source.kind == Kind::move || source.kind == Kind::rebuild; }

std::vector<plan::PieceSource>::const_iterator first_lost(const std::vector<plan::PieceSource>& sources) {
  return std::find_if(sources.begin(), sources.end(), [](const auto& source) { return source.kind == Kind::nowhere; });
}

}  // namespace perdure::client
