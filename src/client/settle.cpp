#include "client/settle.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/field_codec.hpp"
#include "client/inventory.hpp"
#include "plan/settlement.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {
namespace {

std::vector<std::optional<std::uint32_t>> nodes_of_pieces(const std::vector<NodeHolding>& all,
                                                          const segment::VersionId& id) {
  std::vector<std::optional<std::uint32_t>> nodes;
  for (const auto& holding : all) {
    if (holding.held.id != id) continue;
    nodes.resize(std::max<std::size_t>(nodes.size(), holding.held.ranks));
    for (const auto* ranks : {&holding.held.held, &holding.held.spilled})
      ranks->for_each([&](std::uint32_t rank) {
        if (rank < nodes.size()) nodes[rank] = holding.node;
      });
  }
  return nodes;
}

std::set<std::uint32_t> unreachable_ranks(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::set<std::uint32_t> ranks;
  for (const auto& [node, held] : all)
    if (held.id == id) held.unreachable.for_each([&](std::uint32_t rank) { ranks.insert(rank); });
  return ranks;
}

// Of all versions at once: looked at one by one, each would take a look at what all nodes hold of all.
std::set<segment::VersionId> whole_in_tiers(const std::vector<NodeHolding>& all) {
  std::map<segment::VersionId, std::vector<bool>> there;
  for (const auto& [node, held] : all) {
    auto& ranks = there[held.id];
    ranks.resize(std::max<std::size_t>(ranks.size(), held.ranks));
    for (const auto* here : {&held.held, &held.spilled})
      here->for_each([&](std::uint32_t rank) {
        if (rank < ranks.size()) ranks[rank] = true;
      });
  }
  std::set<segment::VersionId> whole;
  for (const auto& [id, ranks] : there)
    if (!ranks.empty() && std::find(ranks.begin(), ranks.end(), false) == ranks.end()) whole.insert(id);
  return whole;
}

bool superseded(const std::set<segment::VersionId>& whole, const segment::VersionId& id) {
  return std::any_of(whole.begin(), whole.end(),
                     [&](const auto& other) { return other.name == id.name && id.attempt < other.attempt; });
}

// The segments that spilled chunks are in.
std::vector<plan::SegmentPart> begun(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::vector<plan::SegmentPart> parts;
  for (const auto& [node, held] : all)
    if (held.id == id && !held.spilled.empty())
      for (const auto& segment : held.begun) parts.push_back({segment.index, segment.count, segment.ranks.list()});
  return parts;
}

// Each version that some engine does not know the outcome of, once; the same list on all ranks.
std::vector<segment::VersionId> undecided(const std::vector<NodeHolding>& all) {
  std::vector<segment::VersionId> ids;
  for (const auto& [node, held] : all)
    if (!held.committed) ids.push_back(held.id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

void look_at(Job& job, const std::vector<segment::VersionId>& ids, StoreView& view) {
  std::string listed;
  std::vector<store::VersionListing> listings;
  for (const auto& id : ids) {
    if (id.name != listed) {
      auto found = list_versions(job.store(), id.name, job.known());
      listings = found ? std::move(*found) : std::vector<store::VersionListing>{};
      if (!found) view.unreadable = found.error();
      listed = id.name;
    }
    for (const auto& listing : listings)
      if (listing.id == id) view_stored(job.store(), listing, view);
  }
  // Damage that nobody else has seen yet is no reason to give anything up.
  if (!view.suspects.empty() && !view.unreadable) view.unreadable = view.suspects.front().why;
}

// A node whose part of a version is at the store may have let go of its slots already. Rank 0 looks.
base::Result<StoreView> stored_parts(Job& job, const std::vector<segment::VersionId>& ids) {
  std::vector<std::byte> told;
  if (job.comm().rank() == 0) {
    StoreView view;
    const auto looked = base::caught("store", [&]() -> base::Status {
      look_at(job, ids, view);
      return {};
    });
    if (!looked) view = StoreView{{}, looked.error()};  // then nothing is known of it, and the others wait
    told = base::encode_fields(view);
  }
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(job.comm(), std::move(told), 0));
  return base::decode_fields<StoreView>(bytes, "store view");
}

base::Status carry_out(Job& job, const segment::VersionId& id, const plan::Settlement& settlement) {
  if (settlement.verdict == plan::Verdict::undecided) return {};
  if (settlement.verdict == plan::Verdict::abort) {
    PERDURE_CHECK(job.engine().channel().call(ipc::Abort{id}));
    return {};
  }
  PERDURE_CHECK(job.engine().channel().call(ipc::Commit{id, job.my_segments(settlement.segments)}));
  return {};
}

base::Status settle_one(Job& job, const std::vector<NodeHolding>& all, const std::set<segment::VersionId>& whole,
                        const StoreView& stored, const segment::VersionId& id) {
  const bool mine = std::any_of(all.begin(), all.end(), [&](const NodeHolding& holding) {
    return holding.node == job.nodes().mine && holding.held.id == id && !holding.held.committed;
  });
  if (!job.leads() || !mine) return {};
  const plan::Evidence evidence{nodes_of_pieces(all, id),  stored.parts_of(id),           begun(all, id),
                                committed_parts(all, id),  stored.unreadable.has_value(), superseded(whole, id),
                                unreachable_ranks(all, id)};
  return carry_out(job, id, plan::settle(evidence, job.nodes().node_of_rank, job.aggregation()));
}

}  // namespace

base::Status settle(Job& job) {
  PERDURE_TRY(const auto inventory, gather_inventories(job));
  const auto& all = inventory.held;
  const auto whole = whole_in_tiers(all);
  job.known().look_again();
  for (const auto& id : whole) job.known().whole_in_tiers(id);
  for (const auto& holding : all) job.known().saw_attempt(holding.held.id);
  const auto open_questions = undecided(all);
  // Of what is whole in tiers parts may be stored, too, if some engine knew the outcome.
  const bool ask_store = std::any_of(open_questions.begin(), open_questions.end(), [&](const auto& id) {
    return !whole.contains(id) || !committed_parts(all, id).empty();
  });
  StoreView stored;
  if (ask_store) {
    PERDURE_TRY(stored, stored_parts(job, open_questions));
  }
  return agree_after(job.comm(), "settling", [&]() -> base::Status {
    for (const auto& id : open_questions) PERDURE_CHECK(settle_one(job, all, whole, stored, id));
    return {};
  });
}

}  // namespace perdure::client
