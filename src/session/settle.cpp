// What a death between staging and commit left undecided is decided by all ranks together, whenever engines are
// attached. (docs/adr/0002)
#include <algorithm>

#include "base/json.hpp"
#include "ipc/messages.hpp"
#include "segment/manifest_codec.hpp"
#include "session/session.hpp"

namespace perdure::session {
namespace {

using base::Json;

std::vector<std::optional<std::uint32_t>> nodes_of_pieces(const std::vector<NodeHolding>& all,
                                                          const segment::VersionId& id) {
  std::vector<std::optional<std::uint32_t>> nodes;
  for (const auto& [node, held] : all) {
    if (held.id != id) continue;
    nodes.resize(std::max<std::size_t>(nodes.size(), held.ranks));
    for (std::uint32_t rank : held.held)
      if (rank < nodes.size()) nodes[rank] = node;
    for (std::uint32_t rank : held.moved)
      if (rank < nodes.size()) nodes[rank] = node;
  }
  return nodes;
}

bool whole_in_tiers(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  const auto nodes = nodes_of_pieces(all, id);
  return !nodes.empty() && std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return node.has_value(); });
}

bool superseded(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  return std::any_of(all.begin(), all.end(), [&](const NodeHolding& other) {
    return other.held.id.name == id.name && id.attempt < other.held.id.attempt && whole_in_tiers(all, other.held.id);
  });
}

// The segments that moved chunks are in.
std::vector<plan::StoredPart> begun(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::vector<plan::StoredPart> parts;
  for (const auto& [node, held] : all)
    if (held.id == id && !held.moved.empty())
      for (const auto& segment : held.begun) parts.push_back({segment.index, segment.count, segment.ranks});
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

}  // namespace

std::vector<plan::StoredPart> committed_parts(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::vector<plan::StoredPart> parts;
  for (const auto& [node, held] : all)
    if (held.id == id)
      for (const auto& segment : held.segments) parts.push_back({segment.index, segment.count, segment.ranks});
  return parts;
}

base::Status Session::settle() {
  PERDURE_TRY(const auto all, gather_holdings());
  whole_in_tiers_.clear();
  for (const auto& [node, held] : all) {
    if (whole_in_tiers(all, held.id)) whole_in_tiers_[held.id.name].insert(held.id.version);
    std::uint64_t& newest = newest_attempt_[held.id.name];
    newest = std::max(newest, held.id.attempt.created_ns);
  }
  const auto open_questions = undecided(all);
  // Of what is whole in tiers parts may be stored, too, if some engine knew the outcome.
  const bool ask_store = std::any_of(open_questions.begin(), open_questions.end(), [&](const auto& id) {
    return !whole_in_tiers(all, id) || !committed_parts(all, id).empty();
  });
  StoreView stored;
  bool store_unread = false;
  if (ask_store) {
    PERDURE_TRY(stored, stored_parts(open_questions, store_unread));
  }
  base::Status outcome;
  for (const auto& id : open_questions) {
    const plan::Evidence evidence{nodes_of_pieces(all, id), stored.parts_of(id), begun(all, id),
                                  committed_parts(all, id), store_unread,        superseded(all, id)};
    const bool mine = std::any_of(all.begin(), all.end(), [&](const NodeHolding& holding) {
      return holding.node == nodes_.mine && holding.held.id == id && !holding.held.committed;
    });
    if (leads() && mine && outcome) outcome = carry_out(id, plan::settle(evidence, nodes_.node_of_rank, aggregation_));
  }
  return agree(*comm_, outcome);
}

base::Result<std::vector<NodeHolding>> Session::gather_holdings() {
  PERDURE_TRY(auto all, gather_inventories({"", false}));
  return std::move(all.held);
}

// A node whose part of a version is at the store may have let go of its slots already. Rank 0 looks.
base::Result<StoreView> Session::stored_parts(const std::vector<segment::VersionId>& ids, bool& unread) {
  Json told = Json::object();
  if (comm_->rank() == 0) {
    StoreView view;
    std::optional<base::Error> unreadable;
    std::string listed;
    std::vector<store::VersionListing> listings;
    for (const auto& id : ids) {
      if (id.name != listed) {
        auto found = store_->list(id.name);
        listings = found ? std::move(*found) : std::vector<store::VersionListing>{};
        if (!found && found.error().code != PERDURE_NOT_FOUND) unreadable = found.error();
        listed = id.name;
      }
      for (const auto& listing : listings)
        if (listing.id == id) view.versions.push_back(view_stored(*store_, listing, unreadable));
    }
    told = to_json(view);
    told["unread"] = unreadable.has_value();
  }
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(*comm_, base::encode_cbor(told), 0));
  PERDURE_TRY(const auto json, base::decode_cbor(bytes, "store view"));
  unread = json.value("unread", false);
  return store_view_from_json(json);
}

base::Status Session::carry_out(const segment::VersionId& id, const plan::Settlement& settlement) {
  if (settlement.verdict == plan::Verdict::undecided) return {};
  if (settlement.verdict == plan::Verdict::abort) {
    PERDURE_CHECK(channel_.call(ipc::Abort{id}));
    return {};
  }
  ipc::Commit commit{id, {}};
  for (const auto& plan : settlement.segments)
    if (plan.node == nodes_.mine) commit.segments.push_back({plan.index, plan.count, plan.ranks});
  PERDURE_CHECK(channel_.call(commit));
  return {};
}

}  // namespace perdure::session
