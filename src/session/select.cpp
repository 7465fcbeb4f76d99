// Which version a restore takes, decided by all ranks together, and where this rank's piece of it is.
#include <algorithm>
#include <cstring>

#include "base/json.hpp"
#include "ipc/messages.hpp"
#include "plan/selection.hpp"
#include "segment/manifest_codec.hpp"
#include "session/session.hpp"
#include "session/slot_codec.hpp"

namespace perdure::session {
namespace {

plan::Candidate candidate(const segment::VersionId& id) {
  return {id.version, id.attempt.created_ns, id.attempt.nonce};
}

base::Result<std::vector<std::vector<plan::Candidate>>> share(comm::Communicator& comm,
                                                              const std::vector<plan::Candidate>& mine) {
  PERDURE_TRY(const auto all, comm::allgather_bytes(comm, std::as_bytes(std::span(mine))));
  std::vector<std::vector<plan::Candidate>> lists;
  for (const auto& bytes : all) {
    lists.emplace_back(bytes.size() / sizeof(plan::Candidate));
    if (!lists.back().empty())
      std::memcpy(lists.back().data(), bytes.data(), lists.back().size() * sizeof(plan::Candidate));
  }
  return lists;
}

bool whole(const StoredVersionView& view) {
  std::size_t ranks = 0;
  for (const auto& segment : view.segments) ranks += segment.ranks.size();
  return view.ranks > 0 && ranks == view.ranks;
}

// Rank 0 alone reads the store, newest first, down to the first whole version that is not excluded.
base::Result<StoreView> read_store(store::Store& store, const std::string& name, std::int64_t version,
                                   const std::set<segment::VersionId>& excluded,
                                   std::optional<base::Error>& unreadable) {
  StoreView view;
  auto listings = store.list(name);
  if (!listings) {
    if (listings.error().code == PERDURE_NOT_FOUND) return view;
    return base::fail(listings.error());
  }
  for (auto it = listings->rbegin(); it != listings->rend(); ++it) {
    if (excluded.contains(it->id) || (version >= 0 && it->id.version != static_cast<std::uint64_t>(version))) continue;
    view.versions.push_back(view_stored(store, *it, unreadable));
    if (version < 0 && whole(view.versions.back())) break;
  }
  return view;
}

}  // namespace

base::Result<Selected> Session::select(const std::string& name, std::int64_t version,
                                       const std::set<segment::VersionId>& excluded) {
  // First the tiers, then the store: what leaves a temporary segment meanwhile is there.
  PERDURE_TRY(const auto held, inventory_together(name));
  base::Json told = base::Json::object();
  if (comm_->rank() == 0) {
    std::optional<base::Error> unreadable;
    auto view = read_store(*store_, name, version, excluded, unreadable);
    // A store that cannot be read now does not keep anybody from restoring out of tiers.
    told = view ? to_json(*view) : to_json(StoreView{});
    // But "there is nothing" is said only of a store that was read: otherwise a program would begin anew for a passing
    // error.
    if (!view) unreadable = view.error();
    if (unreadable) told["error"] = ipc::error_reply(*unreadable)["error"];
  }
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(*comm_, base::encode_cbor(told), 0));
  PERDURE_TRY(const auto json, base::decode_cbor(bytes, "store view"));
  PERDURE_TRY(const auto view, store_view_from_json(json));
  std::vector<plan::Candidate> mine;
  std::set<segment::VersionId> in_tier;
  for (const auto& summary : held) {
    const bool here = std::find(summary.held.begin(), summary.held.end(), rank()) != summary.held.end();
    const bool wanted = version < 0 || summary.id.version == static_cast<std::uint64_t>(version);
    if (!here || !wanted || excluded.contains(summary.id) || summary.ranks != static_cast<std::uint32_t>(comm_->size()))
      continue;
    in_tier.insert(summary.id);
    mine.push_back(candidate(summary.id));
  }
  PERDURE_TRY(const auto plans, plan_recoveries(name, view, json.contains("error")));
  for (const auto& [id, plan] : plans.of) {
    const auto kind = plan.sources[rank()].kind;
    const bool elsewhere = kind == plan::PieceSource::Kind::move || kind == plan::PieceSource::Kind::rebuild;
    const bool wanted = version < 0 || id.version == static_cast<std::uint64_t>(version);
    if (!elsewhere || !wanted || excluded.contains(id) || in_tier.contains(id)) continue;
    if (const auto* stored = view.find(id); stored != nullptr && stored->segment_of(rank()) != nullptr) continue;
    mine.push_back(candidate(id));
  }
  std::uint32_t other_size = plans.other_ranks;
  for (const auto& stored : view.versions) {
    if (stored.ranks != static_cast<std::uint32_t>(comm_->size()))
      other_size = stored.ranks;
    else if (stored.segment_of(rank()) != nullptr && !in_tier.contains(stored.id))
      mine.push_back(candidate(stored.id));
  }
  PERDURE_TRY(const auto lists, share(*comm_, mine));
  const auto chosen = plan::newest_common(lists);
  if (!chosen) {
    if (json.contains("error")) return base::fail(ipc::check_reply(json).error());
    if (other_size != 0)
      return base::fail(
          PERDURE_MISMATCH, name,
          "it was written by " + std::to_string(other_size) + " ranks, this run has " + std::to_string(comm_->size()),
          "run with as many ranks as wrote it");
    return base::fail(nothing_found(name, version, !excluded.empty(), plans));
  }
  Selected selected{{name, chosen->version, {chosen->attempt_time, chosen->attempt_nonce}}, false, {}};
  selected.in_tier = in_tier.contains(selected.id);
  if (const auto* stored = view.find(selected.id))
    if (const auto* segment = stored->segment_of(rank())) selected.in_store = *segment;
  if (const auto found = plans.of.find(selected.id); found != plans.of.end()) {
    selected.sources = found->second.sources;
    selected.segments = found->second.segments;
  }
  if (version < 0) explain(plans, selected.id);
  return selected;
}

base::Result<PieceSource> Session::find_piece(const Selected& selected) {
  PieceSource source;
  source.id = selected.id;
  source.stored = selected.in_store;
  auto located = selected.in_tier ? channel_.call(ipc::Locate{selected.id, rank()}) : base::Json();
  // It may have made room for others meanwhile, because the store has it.
  const bool left = !located && located.error().code == PERDURE_NOT_FOUND && source.stored;
  if (selected.in_tier && !left) {
    PERDURE_TRY(const auto reply, std::move(located));
    if (!reply.contains("piece")) return base::fail(PERDURE_CORRUPT, "engine", "the reply has no piece");
    PERDURE_TRY(source.piece, segment::piece_from_json(reply["piece"], "piece"));
    PERDURE_TRY(const base::Json* slots, base::get_array(reply, "slots", "piece"));
    for (const auto& item : *slots) {
      PERDURE_TRY(auto slot, slot_from_json(item));
      source.slots.push_back(std::move(slot));
    }
    if (source.slots.size() != source.piece.chunks.size())
      return base::fail(PERDURE_CORRUPT, "engine", "slots and chunks differ in number");
    source.bad.assign(source.slots.size(), false);
    return source;
  }
  if (!source.stored) return base::fail(PERDURE_NOT_FOUND, selected.id.text(), "this rank's piece is nowhere");
  PERDURE_TRY(source.bytes, store_->open(source.stored->ref));
  PERDURE_TRY(const auto manifest, segment::read_manifest(*source.bytes));
  for (const auto& piece : manifest.pieces)
    if (piece.rank == rank()) source.piece = source.stored_piece = piece;
  return source;
}

base::Result<std::uint64_t> Session::latest(const std::string& name) {
  PERDURE_TRY([[maybe_unused]] const auto opened, begin({Operation::latest, name, -1}, segment::check_name(name)));
  auto selected = select(name, -1, {});
  if (!selected) return base::fail(selected.error());
  return selected->id.version;
}

base::Result<segment::RegionEntry> Session::stored_size(const std::string& name, std::int64_t version,
                                                        std::int32_t id) {
  base::Status ready = segment::check_name(name);
  if (ready && version < PERDURE_LATEST)
    ready = base::fail(PERDURE_INVALID_ARGUMENT, "version " + std::to_string(version), "versions are not negative");
  PERDURE_TRY([[maybe_unused]] const auto opened, begin({Operation::stored_size, name, version}, ready));
  PERDURE_TRY(auto selected, select(name, version, {}));
  PERDURE_CHECK(fetch_missing(selected));
  auto source = find_piece(selected);
  if (channel_.connected()) (void)channel_.call(ipc::Unpin{});
  PERDURE_CHECK(agree(*comm_, source ? base::Status() : base::Status(base::fail(source.error()))));
  for (const auto& region : source->piece.regions)
    if (region.id == id) return region;
  return base::fail(PERDURE_NOT_FOUND, "region " + std::to_string(id), "it is not part of " + selected.id.text());
}

}  // namespace perdure::session
