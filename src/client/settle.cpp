#include "client/settle.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/field_codec.hpp"
#include "client/inventory.hpp"
#include "plan/lineage.hpp"
#include "plan/settlement.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {
namespace {

std::uint32_t ranks_of(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::uint32_t ranks = 0;
  for (const auto& holding : all)
    if (holding.held.id == id) ranks = std::max(ranks, holding.held.ranks);
  return ranks;
}

plan::PieceHolders holders_of(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  const std::uint32_t ranks = ranks_of(all, id);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held;
  held.reserve(ranks);
  for (const auto& holding : all) {
    if (holding.held.id != id) continue;
    for (const auto* here : {&holding.held.held, &holding.held.spilled})
      here->for_each([&](std::uint32_t rank) {
        if (rank < ranks) held.emplace_back(rank, holding.node);
      });
  }
  return {ranks, std::move(held)};
}

std::set<std::uint32_t> unreachable_ranks(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::set<std::uint32_t> ranks;
  for (const auto& [node, held] : all)
    if (held.id == id) held.unreachable.for_each([&](std::uint32_t rank) { ranks.insert(rank); });
  return ranks;
}

struct ForksOfName {
  std::string name;
  std::vector<plan::Fork> forks;
  PERDURE_FIELDS(name, forks)
};

/// Rank 0's findings in the store.
struct InStore {
  StoreView view;
  /// For each name of an open question, the newest attempt that the store has completely, and the newest such one of
  /// its run.
  std::vector<segment::VersionId> whole = {};
  std::vector<ForksOfName> forks = {};  ///< forks of the same names
  PERDURE_FIELDS(view, whole, forks)
  /// As far as it is known, both are of one run.
  bool related(const segment::VersionId& one, const segment::VersionId& other) const {
    const auto known =
        std::find_if(forks.begin(), forks.end(), [&](const ForksOfName& of) { return of.name == one.name; });
    return plan::related(known == forks.end() ? std::vector<plan::Fork>() : known->forks,
                         plan::branch_of(one.attempt.nonce), plan::branch_of(other.attempt.nonce));
  }
};

// Tells for each version whether it is complete in tiers. Looks at all versions at once: one by one, each would need a
// look at the holdings of all nodes.
std::map<segment::VersionId, bool> versions_of(const std::vector<NodeHolding>& all) {
  std::map<segment::VersionId, std::vector<bool>> there;
  for (const auto& holding : all) {
    auto& ranks = there[holding.held.id];
    ranks.resize(std::max<std::size_t>(ranks.size(), holding.held.ranks));
    for (const auto* here : {&holding.held.held, &holding.held.spilled})
      here->for_each([&](std::uint32_t rank) {
        if (rank < ranks.size()) ranks[rank] = true;
      });
  }
  std::map<segment::VersionId, bool> versions;
  for (const auto& [id, ranks] : there)
    versions[id] = !ranks.empty() && std::find(ranks.begin(), ranks.end(), false) == ranks.end();
  return versions;
}

enum class By { any_run, its_run };

// With By::its_run, versions of other runs do not count.
bool superseded(const std::map<segment::VersionId, bool>& versions, const InStore& stored, const segment::VersionId& id,
                By by) {
  const auto newer = [&](const segment::VersionId& other) {
    return other.name == id.name && id.attempt < other.attempt && (by == By::any_run || stored.related(id, other));
  };
  return std::any_of(stored.whole.begin(), stored.whole.end(), newer) ||
         std::any_of(versions.begin(), versions.end(),
                     [&](const auto& other) { return other.second && newer(other.first); });
}

// All engines that captured it say the same. An engine that only has pieces that others captured cannot say.
bool node_away(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  auto known = ipc::CaptureNodes::unknown;
  for (const auto& [node, held] : all)
    if (held.id == id) known = std::max(known, held.capture_nodes);
  return known != ipc::CaptureNodes::all_here;
}

// Gives the segments that have spilled chunks.
std::vector<plan::SegmentPart> begun(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::vector<plan::SegmentPart> parts;
  for (const auto& [node, held] : all)
    if (held.id == id && !held.spilled.empty())
      for (const auto& segment : held.begun) parts.push_back({segment.index, segment.count, segment.ranks.list()});
  return parts;
}

// Every engine knows the outcome, but some part will never be written: a recovery brought it, and did not commit it.
bool unfinished(const std::vector<NodeHolding>& all, const segment::VersionId& id) {
  std::vector<bool> planned(ranks_of(all, id));
  for (const auto& [node, held] : all) {
    if (held.id != id) continue;
    for (const auto& segment : held.segments)
      segment.ranks.for_each([&](std::uint32_t rank) {
        if (rank < planned.size()) planned[rank] = true;
      });
  }
  return std::find(planned.begin(), planned.end(), false) != planned.end();
}

template <class Wanted>
bool any_holding(const std::vector<NodeHolding>& all, const segment::VersionId& id, Wanted wanted) {
  return std::any_of(all.begin(), all.end(),
                     [&](const NodeHolding& one) { return one.held.id == id && wanted(one.held); });
}

// Gives each version whose outcome some engine does not know, or that is unfinished; the same list on all ranks.
std::vector<segment::VersionId> to_settle(const std::vector<NodeHolding>& all,
                                          const std::map<segment::VersionId, bool>& versions) {
  std::vector<segment::VersionId> ids;
  for (const auto& [id, whole] : versions) {
    const bool open = any_holding(all, id, [](const ToldVersion& held) { return !held.committed; });
    const bool capturing = any_holding(all, id, [](const ToldVersion& held) { return held.capturing; });
    if (open || (whole && !capturing && unfinished(all, id))) ids.push_back(id);
  }
  return ids;
}

// Gives the newest complete version. Reads its manifests, and those of newer damaged ones.
std::optional<segment::VersionId> newest_whole(store::Store& store, std::vector<store::VersionListing> listings) {
  std::sort(listings.begin(), listings.end(), [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  for (const auto& listing : listings)
    if (listing.all_present() && store::read_version(store, listing)) return listing.id;
  return std::nullopt;
}

std::vector<store::VersionListing> of_run_of(const segment::VersionId& id, const InStore& stored,
                                             std::vector<store::VersionListing> listings) {
  std::erase_if(listings, [&](const auto& one) { return !stored.related(id, one.id); });
  return listings;
}

void look_at(Job& job, const std::vector<segment::VersionId>& ids, InStore& stored) {
  StoreView& view = stored.view;
  std::string listed;
  std::vector<store::VersionListing> listings;
  for (const auto& id : ids) {
    if (id.name != listed) {
      auto found = list_versions(job.store(), id.name, job.known());
      listings = found ? std::move(*found) : std::vector<store::VersionListing>{};
      if (!found) view.unreadable = found.error();
      if (const auto forks = store::forks(job.store(), id.name)) stored.forks.push_back({id.name, *forks});
      if (auto whole = newest_whole(job.store(), listings)) stored.whole.push_back(std::move(*whole));
      listed = id.name;
    }
    const bool known = std::any_of(stored.whole.begin(), stored.whole.end(), [&](const segment::VersionId& whole) {
      return whole.name == id.name && stored.related(id, whole);
    });
    if (auto whole = known ? std::nullopt : newest_whole(job.store(), of_run_of(id, stored, listings)))
      stored.whole.push_back(std::move(*whole));
    for (const auto& listing : listings)
      if (listing.id == id) view_stored(job.store(), listing, view);
  }
  // Damage that no second reader has seen yet is no reason to give anything up.
  if (!view.suspects.empty() && !view.unreadable) view.unreadable = view.suspects.front().why;
}

// A node whose part of a version is at the store may have evicted its slots already. Rank 0 looks.
base::Result<InStore> look_at_store(Job& job, const std::vector<segment::VersionId>& ids) {
  std::vector<std::byte> told;
  if (job.comm().rank() == 0) {
    InStore stored;
    const auto looked = base::caught("store", [&]() -> base::Status {
      look_at(job, ids, stored);
      return {};
    });
    if (!looked) stored = {StoreView{{}, looked.error()}, {}};  // then nothing is known of it, and the others wait
    told = base::encode_fields(stored);
  }
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(job.comm(), std::move(told), 0));
  return base::decode_fields<InStore>(bytes, "store view");
}

base::Status carry_out(Job& job, const segment::VersionId& id, const plan::Settlement& settlement) {
  ipc::Channel& engine = job.engine().channel();
  switch (settlement.verdict) {
    case plan::Verdict::undecided:
      break;
    case plan::Verdict::waits:
      PERDURE_CHECK(engine.call(ipc::KeepRemains{id}));
      break;
    case plan::Verdict::abort:
      PERDURE_CHECK(engine.call(ipc::Abort{id}));
      break;
    case plan::Verdict::commit:
      PERDURE_CHECK(engine.call(ipc::Commit{id, job.my_segments(settlement.segments)}));
  }
  return {};
}

// Adds segments that this node still has to write of a version that its engine has committed. A failure to do so is no
// reason to go without the version.
base::Status finish(Job& job, const ToldVersion& held, const plan::Settlement& settlement) {
  auto segments = job.my_segments(settlement.segments);
  std::erase_if(segments, [&](const auto& segment) {
    return std::any_of(held.segments.begin(), held.segments.end(), [&](const auto& known) {
      return known.index == segment.index && known.count == segment.count && known.ranks.list() == segment.ranks;
    });
  });
  if (segments.empty()) return {};
  ipc::Channel& engine = job.engine().channel();
  const auto done = engine.call(ipc::Commit{held.id, std::move(segments), true});
  if (done) return {};
  if (!engine.connected()) return base::fail(done.error());
  (void)engine.call(ipc::Note{held.id.text() + " is not completed at the store: " + done.error().text()});
  return {};
}

base::Status settle_one(Job& job, const std::vector<NodeHolding>& all,
                        const std::map<segment::VersionId, bool>& versions, const InStore& stored,
                        const segment::VersionId& id) {
  const auto mine = std::find_if(all.begin(), all.end(), [&](const NodeHolding& holding) {
    return holding.node == job.nodes().mine && holding.held.id == id;
  });
  if (!job.leads() || mine == all.end() || mine->held.capturing) return {};
  const plan::Evidence evidence{holders_of(all, id),
                                stored.view.parts_of(id),
                                begun(all, id),
                                committed_parts(all, id),
                                stored.view.unreadable.has_value(),
                                superseded(versions, stored, id, By::its_run),
                                unreachable_ranks(all, id),
                                node_away(all, id)};
  const auto settlement = plan::settle(evidence, job.nodes().node_of_rank, job.aggregation());
  const bool older = superseded(versions, stored, id, By::any_run);
  // An undecidable attempt of another run blocks nothing.
  if (!mine->held.committed && older && settlement.verdict == plan::Verdict::undecided)
    return carry_out(job, id, {plan::Verdict::waits, {}});
  if (!mine->held.committed) return carry_out(job, id, settlement);
  // The store may have removed an older version on purpose.
  return older ? base::Status() : finish(job, mine->held, settlement);
}

}  // namespace

base::Status settle(Job& job) {
  PERDURE_TRY(const auto inventory, gather_inventories(job));
  const auto& all = inventory.held;
  const auto versions = versions_of(all);
  job.known().look_again();
  for (const auto& [id, whole] : versions) {
    if (whole) job.known().whole_in_tiers(id);
    job.known().saw_attempt(id);
  }
  for (const auto& holding : all)
    if (holding.held.committed && !holding.held.capturing) job.known().was_complete(holding.held.id);
  const auto open_questions = to_settle(all, versions);
  // A version that is complete in tiers may have parts in the store, too, if some engine knew the outcome.
  const bool ask_store = std::any_of(open_questions.begin(), open_questions.end(), [&](const auto& id) {
    return !versions.at(id) || any_holding(all, id, [](const ToldVersion& held) { return held.committed; });
  });
  InStore stored;
  if (ask_store) {
    PERDURE_TRY(stored, look_at_store(job, open_questions));
  }
  return agree_after(job.comm(), "settling", [&]() -> base::Status {
    for (const auto& id : open_questions) PERDURE_CHECK(settle_one(job, all, versions, stored, id));
    return {};
  });
}

}  // namespace perdure::client
