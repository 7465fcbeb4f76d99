// After nodes were lost: what all engines have, where every rank's piece can come from, and getting it to where the
// rank runs now. All ranks decide alike, over the same inventories. (docs/adr/0014)
#include <algorithm>

#include "base/json.hpp"
#include "os/system.hpp"
#include "session/session.hpp"

namespace perdure::session {
namespace {

using base::Json;
using Kind = plan::PieceSource::Kind;

plan::KeptPart part_of(std::uint32_t node, const ipc::KeptSummary& kept) {
  plan::KeptPart part{node, kept.epoch, kept.group, kept.scheme, kept.parities, kept.position, {}, {}};
  for (const auto& position : kept.members) {
    auto& members = part.members.emplace_back();
    for (const auto& member : position) members.push_back({member.rank, member.chunks});
  }
  part.missing.insert(kept.missing.begin(), kept.missing.end());
  return part;
}

plan::VersionInventory inventory_of(const segment::VersionId& id, std::uint32_t ranks, const JobInventory& all,
                                    const StoreView& store) {
  plan::VersionInventory inventory;
  inventory.nodes_of_rank.resize(ranks);
  for (const auto& [node, held] : all.held)
    if (held.id == id)
      for (const std::uint32_t rank : held.held)
        if (rank < ranks) inventory.nodes_of_rank[rank].push_back(node);
  for (const auto& [node, kept] : all.kept)
    if (kept.id == id) inventory.kept.push_back(part_of(node, kept));
  if (const auto* stored = store.find(id); stored != nullptr && stored->ranks == ranks)
    for (std::uint32_t rank = 0; rank < ranks; ++rank) inventory.stored.push_back(stored->segment_of(rank) != nullptr);
  return inventory;
}

// What the store has, and what engines will still bring there.
std::vector<plan::StoredPart> known_segments(const segment::VersionId& id, const JobInventory& all,
                                             const StoreView& store) {
  auto known = committed_parts(all.held, id);
  const auto stored = store.parts_of(id);
  known.insert(known.end(), stored.begin(), stored.end());
  return known;
}

bool to_fetch(const plan::PieceSource& source) { return source.kind == Kind::move || source.kind == Kind::rebuild; }

std::vector<plan::PieceSource>::const_iterator first_lost(const std::vector<plan::PieceSource>& sources) {
  return std::find_if(sources.begin(), sources.end(), [](const auto& source) { return source.kind == Kind::nowhere; });
}

std::string described(const Json& recovered, double seconds) {
  std::string text;
  for (const auto& item : recovered) {
    const auto rebuilt = base::get_u64(item, "rebuilt", "recovered").value_or(0);
    const auto moved = base::get_u64(item, "moved", "recovered").value_or(0);
    text += (text.empty() ? "rank " : ", rank ") +
            std::to_string(base::get_u64(item, "rank", "recovered").value_or(0)) + ": " + base::format_bytes(rebuilt) +
            " rebuilt, " + base::format_bytes(moved) + " moved";
  }
  return text + ", in " + std::to_string(static_cast<std::uint64_t>(seconds * 1e3)) + " ms";
}

}  // namespace

// An engine that cannot say what it holds must not be taken for one that holds nothing: then nobody decides anything.
base::Result<JobInventory> Session::gather_inventories(const ipc::Inventory& question) {
  base::Result<Json> reply = Json::object();
  if (leads()) reply = channel_.call(question);
  PERDURE_CHECK(agree(*comm_, reply ? base::Status() : base::Status(base::fail(reply.error()))));
  PERDURE_TRY(const auto bytes, comm::allgather_bytes(*comm_, base::encode_cbor(*reply)));
  JobInventory all;
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
    PERDURE_TRY(const Json json, base::decode_cbor(bytes[rank], "inventory"));
    if (!json.contains("held")) continue;
    const std::uint32_t node = nodes_.node_of_rank[rank];
    PERDURE_TRY(const Json* held, base::get_array(json, "held", "inventory"));
    for (const Json& item : *held) {
      PERDURE_TRY(auto summary, ipc::summary_from_json(item));
      all.held.push_back({node, std::move(summary)});
    }
    if (!question.kept) continue;
    PERDURE_TRY(const Json* kept, base::get_array(json, "kept", "inventory"));
    for (const Json& item : *kept) {
      PERDURE_TRY(auto summary, ipc::kept_from_json(item));
      all.kept.emplace_back(node, std::move(summary));
    }
  }
  return all;
}

// Of every attempt at a version that somebody has something of.
base::Result<RecoveryPlans> Session::plan_recoveries(const std::string& name, const StoreView& store,
                                                     bool store_unread) {
  RecoveryPlans plans;
  if (!network_open_) return plans;
  PERDURE_TRY(const JobInventory all, gather_inventories({name, true}));
  const auto ranks = static_cast<std::uint32_t>(comm_->size());
  std::set<segment::VersionId> ids;
  for (const auto& [node, held] : all.held)
    if (held.ranks == ranks)
      ids.insert(held.id);
    else
      plans.other_ranks = held.ranks;
  for (const auto& [node, kept] : all.kept)
    if (kept.ranks == ranks)
      ids.insert(kept.id);
    else
      plans.other_ranks = kept.ranks;
  for (const auto& id : ids) {
    auto& plan = plans.of[id];
    plan.sources = plan::plan_recovery(inventory_of(id, ranks, all, store), nodes_.node_of_rank);
    plan.segments =
        plan::lay_out_missing(known_segments(id, all, store), nodes_.node_of_rank, aggregation_, store_unread);
  }
  return plans;
}

// Said where a newer version could not be taken.
void Session::explain(const RecoveryPlans& plans, const segment::VersionId& taken) {
  if (comm_->rank() != 0 || !channel_.connected()) return;
  for (const auto& [id, plan] : plans.of) {
    if (id.attempt <= taken.attempt) continue;
    const auto lost = first_lost(plan.sources);
    if (lost != plan.sources.end())
      (void)channel_.call(
          ipc::Note{id.text() + " cannot be restored: " + lost->why + "; " + taken.text() + " is taken instead"});
  }
}

base::Error Session::nothing_found(const std::string& name, std::int64_t version, bool excluded_some,
                                   const RecoveryPlans& plans) const {
  const std::string object = version < 0 ? name : name + " version " + std::to_string(version);
  if (excluded_some)
    return {PERDURE_CORRUPT, object, "no version passed verification on all ranks",
            "the pieces that failed are in quarantine; see perdure ls --quarantine", false};
  base::Error error{PERDURE_NOT_FOUND, object, "there is no version that every rank can restore",
                    "see perdure ls for what the store holds", false};
  const std::pair<const segment::VersionId, RecoveryPlan>* newest = nullptr;
  for (const auto& entry : plans.of)
    if ((version < 0 || entry.first.version == static_cast<std::uint64_t>(version)) &&
        first_lost(entry.second.sources) != entry.second.sources.end() &&
        (newest == nullptr || newest->first.attempt < entry.first.attempt))
      newest = &entry;
  if (newest != nullptr) error.cause += "; of " + newest->first.text() + ", " + first_lost(newest->second.sources)->why;
  return error;
}

base::Status Session::fetch_missing(Selected& selected) {
  // Pieces may be in place that an interrupted recovery brought, and nobody committed.
  const bool whole = !selected.segments || selected.segments->empty();
  if (whole && std::none_of(selected.sources.begin(), selected.sources.end(), to_fetch)) return {};
  PERDURE_TRY(auto loans, gather_loans(selected.id));
  base::Status outcome;
  if (leads()) {
    ipc::Recover recover{selected.id, static_cast<std::uint32_t>(comm_->size()), ranks_to_fetch(selected),
                         std::move(loans)};
    const std::uint64_t begun = os::monotonic_ns();
    if (!recover.wanted.empty()) {
      auto reply = channel_.call(recover);
      if (!reply)
        outcome = base::fail(reply.error());
      else
        (void)channel_.call(ipc::Note{
            selected.id.text() +
            " recovered: " + described((*reply)["recovered"], static_cast<double>(os::monotonic_ns() - begun) * 1e-9)});
    }
  }
  PERDURE_CHECK(agree(*comm_, outcome));
  PERDURE_CHECK(commit_recovered(selected));
  selected.fetched = to_fetch(selected.sources[rank()]);
  selected.in_tier = selected.in_tier || selected.fetched;
  return {};
}

base::Result<std::vector<std::vector<std::byte>>> Session::gather_loans(const segment::VersionId& id) {
  Json mine = Json::object();
  if (leads()) {
    auto reply = channel_.call(ipc::Lend{id});
    mine = reply ? std::move(*reply) : ipc::error_reply(reply.error());
  }
  PERDURE_TRY(const auto all, comm::allgather_bytes(*comm_, base::encode_cbor(mine)));
  std::vector<std::vector<std::byte>> loans;
  for (const auto& bytes : all) {
    PERDURE_TRY(auto json, base::decode_cbor(bytes, "loan"));
    PERDURE_TRY(const Json checked, ipc::check_reply(std::move(json)));
    if (!checked.contains("loan")) continue;
    PERDURE_TRY(auto loan, base::binary_of(checked["loan"], 256 * base::MiB, "field 'loan'", "loan"));
    loans.push_back(std::move(loan));
    PERDURE_TRY(const Json* servers, base::get_array(checked, "server_loans", "loan"));
    for (const Json& item : *servers) {
      PERDURE_TRY(auto lent, base::binary_of(item, 256 * base::MiB, "field 'server_loans'", "loan"));
      loans.push_back(std::move(lent));
    }
  }
  return loans;
}

// Those that run here, and those that are in a segment with them, which one node has to write.
std::vector<std::uint32_t> Session::ranks_to_fetch(const Selected& selected) const {
  std::set<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < selected.sources.size(); ++r)
    if (nodes_.node_of_rank[r] == nodes_.mine && to_fetch(selected.sources[r])) ranks.insert(r);
  if (selected.segments)
    for (const auto& segment : *selected.segments)
      for (const std::uint32_t r : segment.ranks)
        if (segment.node == nodes_.mine && nodes_.node_of_rank[r] != nodes_.mine) ranks.insert(r);
  return {ranks.begin(), ranks.end()};
}

// What was rebuilt has to go to the store with the rest of its version. What is still on another node goes there from
// that one, where nothing is wrong with it.
base::Status Session::commit_recovered(const Selected& selected) {
  if (!selected.segments) {
    if (leads() && nodes_.mine == 0)
      (void)channel_.call(ipc::Note{selected.id.text() +
                                    ": the store cannot be read, or its segments contradict those of engines; it is"
                                    " restored, but not completed there"});
    return {};
  }
  base::Status outcome;
  if (leads()) {
    ipc::Commit commit{selected.id, {}, true};
    for (const auto& segment : *selected.segments)
      if (segment.node == nodes_.mine) commit.segments.push_back({segment.index, segment.count, segment.ranks});
    const auto done = channel_.call(commit);
    // Not held: nothing of it is here. Begun with other ranks: it stays as it is until that segment can be finished.
    if (!done && done.error().code != PERDURE_NOT_FOUND && done.error().code != PERDURE_MISMATCH)
      outcome = base::fail(done.error());
  }
  return agree(*comm_, outcome);
}

// The next loss may come soon. Where some rank's data came from the store, this version is safe there.
base::Status Session::protect_again(const Selected& selected) {
  const bool on_nodes = std::all_of(selected.sources.begin(), selected.sources.end(), [](const auto& source) {
    return source.kind == Kind::in_place || to_fetch(source);
  });
  if (!in_group_ || selected.sources.empty() || !on_nodes || !leads() || !channel_.connected()) return {};
  auto done = channel_.call(ipc::Protect{selected.id});
  if (!done && done.error().code != PERDURE_UNAVAILABLE) return base::fail(done.error());
  return {};
}

}  // namespace perdure::session
