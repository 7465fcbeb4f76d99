// Chooses the version to read, and finds its data. (architecture, promises 1 and 2)
#include "client/version_reader.hpp"

#include <algorithm>
#include <iterator>

#include "base/field_codec.hpp"
#include "client/branch_to_write.hpp"
#include "client/read_ahead.hpp"
#include "client/second_reading.hpp"
#include "client/store_losses.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "plan/missing_segments.hpp"

namespace perdure::client {
namespace {

constexpr unsigned kStoreTries = 3;
constexpr std::uint64_t kStorePause_ns = 25'000'000;

bool whole(const StoredVersionView& view) {
  std::size_t ranks = 0;
  for (const auto& segment : view.segments) ranks += segment.ranks.size();
  return view.ranks > 0 && ranks == view.ranks;
}

// Notes quarantined segments of the attempts that were looked at. A failure to tell is ignored.
void note_set_aside(const std::vector<store::QuarantinedSegment>& found, const Opening& opening,
                    const std::set<segment::VersionId>& excluded, StoreView& view) {
  const bool ends_whole = opening.version < 0 && !view.versions.empty() && whole(view.versions.back());
  const Candidates candidates{opening.version, excluded, view.line};
  for (const auto& segment : found) {
    const bool passed = ends_whole && segment.id.attempt < view.versions.back().id.attempt;
    if (candidates.contain(segment.id) && !passed) view.aside.push_back({segment.id, segment.index, segment.count});
  }
}

// Rank 0 alone reads the store, newest first, down to the first complete version that is not excluded.
base::Status read_store(Job& job, const Opening& opening, const std::set<segment::VersionId>& excluded,
                        StoreView& view) {
  store::Store& store = job.store();
  LineFacts facts;
  PERDURE_TRY(facts.listings, list_versions(store, opening.name, job.known()));
  facts.aside = store.set_aside(opening.name).value_or(std::vector<store::QuarantinedSegment>());
  PERDURE_TRY(facts.forks, store::forks(store, opening.name));
  auto listings = facts.listings;
  const auto aside = facts.aside;
  const auto branch = branch_in(opening.detail);
  const auto& unrecorded = job.known().unrecorded(opening.name).forks;
  if (branch) facts.forks.insert(facts.forks.end(), unrecorded.begin(), unrecorded.end());
  view.line = branch ? plan::line_of(facts.forks, *branch) : line_to_read(job, opening.name, std::move(facts));
  std::sort(listings.begin(), listings.end(), [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  if (const auto forgotten = store.forgotten(opening.name)) view.forgotten_ns = *forgotten;
  const Candidates candidates{opening.version, excluded, view.line};
  for (const auto& listing : listings) {
    if (!candidates.contain(listing.id)) continue;
    view_stored(store, listing, view);
    const bool read = !view.versions.empty() && view.versions.back().id == listing.id;
    if (opening.version < 0 && read && whole(view.versions.back())) break;
  }
  note_set_aside(aside, opening, excluded, view);
  return {};
}

// Gives the current line as nodes know it, if the store cannot be read.
StoreView unread_store(Job& job, const Opening& opening, const base::Error& why) {
  StoreView view;
  view.unreadable = why;
  const auto branch = branch_in(opening.detail);
  const auto& unrecorded = job.known().unrecorded(opening.name).forks;
  view.line = branch ? plan::line_of(unrecorded, *branch) : line_to_read(job, opening.name, {});
  return view;
}

// A store that cannot be read now does not prevent a restore out of tiers. But "there is nothing" needs a store that
// was read: otherwise a program would begin anew after a transient error. Transient failures are retried.
std::vector<std::byte> encoded_store(Job& job, const Opening& opening, const std::set<segment::VersionId>& excluded) {
  for (unsigned tries = 1;; ++tries) {
    StoreView view;
    const auto read = base::caught("store", [&] { return read_store(job, opening, excluded, view); });
    if (read && (!view.unreadable || tries == kStoreTries)) return base::encode_fields(view);
    if (tries == kStoreTries) return base::encode_fields(unread_store(job, opening, read.error()));
    os::sleep_ns(kStorePause_ns << tries);
  }
}

// The version in the tiers is not the latest if a node had brought its part of a newer one to the store. That cannot be
// read now.
bool newer_is_stored(const JobInventory& all, const segment::VersionId& id, const Candidates& candidates) {
  return std::any_of(all.held.begin(), all.held.end(), [&](const NodeHolding& holding) {
    return holding.held.committed && holding.held.stored && holding.held.id.attempt > id.attempt &&
           candidates.contain(holding.held.id);
  });
}

// Gives the number of ranks of a candidate that cannot be asked for; 0: there is none.
std::uint32_t other_ranks(const VersionPlans& plans, const JobInventory& all, const StoreView& store,
                          const Candidates& candidates, std::uint32_t ranks) {
  if (plans.other_ranks == 0) return 0;
  const auto differs = [&](const segment::VersionId& id, std::uint32_t of_version) {
    return of_version != 0 && of_version != ranks && candidates.contain(id);
  };
  for (const auto& [node, held] : all.held)
    if (differs(held.id, held.ranks)) return held.ranks;
  for (const auto& [node, kept] : all.kept)
    if (differs(kept.id, kept.ranks)) return kept.ranks;
  for (const auto& stored : store.versions)
    if (differs(stored.id, stored.ranks)) return stored.ranks;
  return 0;
}

std::set<std::size_t> chunks_of(const std::vector<capture::ChunkRange>& chunks,
                                const std::vector<capture::ChunkRange>& needed) {
  std::set<std::size_t> found;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto next = std::partition_point(needed.begin(), needed.end(),
                                           [&](const auto& range) { return range.end() <= chunks[i].begin; });
    if (next != needed.end() && next->begin < chunks[i].end()) found.insert(i);
  }
  return found;
}

// Gives the chunk with the wanted byte, or the first one.
std::size_t next_chunk(const std::vector<capture::ChunkRange>& chunks, const std::set<std::size_t>& left,
                       std::optional<std::uint64_t> wanted) {
  if (!wanted) return *left.begin();
  const auto at =
      std::partition_point(chunks.begin(), chunks.end(), [&](const auto& chunk) { return chunk.end() <= *wanted; });
  const auto chunk = static_cast<std::size_t>(at - chunks.begin());
  return left.contains(chunk) ? chunk : *left.begin();
}

constexpr const char* kNotTheLatest =
    ", and it has a newer version than the nodes; bring it back, or restore a version by its number";

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);

// Limits the store's content that goes with the inventories: two versions as this job lays them out now. More than
// that, after many incomplete versions, takes an exchange of its own.
std::size_t inline_bytes(const Job& job) {
  std::size_t version = 2048;
  for (const auto& plan : plan::lay_out_segments(job.nodes().node_of_rank, job.aggregation()))
    version += 160 + base::encode_fields(base::Runs<std::uint32_t>(plan.ranks)).size();
  return 2 * version;
}

// Appends rank 0's message: its inventory, the store's content if it fits, and its length.
void append_store(std::vector<std::byte>& told, const std::vector<std::byte>& stored, std::size_t room) {
  const std::size_t end = told.size() + room;
  if (stored.size() <= room) told.insert(told.end(), stored.begin(), stored.end());
  told.resize(end);
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    told.push_back(static_cast<std::byte>(std::uint64_t{stored.size()} >> (8 * i)));
}

// [collective] Takes the store's content behind rank 0's inventory; by a broadcast if it did not fit.
base::Result<std::vector<std::byte>> take_store(comm::Communicator& comm, base::ConstByteSpan told,
                                                std::vector<std::byte> stored) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length = length << 8 | std::to_integer<std::uint64_t>(told[told.size() - 1 - i]);
  const auto fitting = told.first(told.size() - kLengthBytes);
  if (length <= fitting.size())
    return std::vector<std::byte>(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(length));
  stored.resize(length);
  PERDURE_CHECK(comm.broadcast(stored, 0));
  return stored;
}

}  // namespace

// Ranks of any node may need it, of as many ranks as there are now or of others.
bool VersionReader::is_for_others(const ipc::HeldSummary& held, const Opening& opening) const {
  const bool there = held.stored || (job_.group().network_open() && held.spilled.empty());
  const bool gathers = opening.regions.arrays || (opening.detail & kPart) != 0;
  const bool gathered = held.ranks == job_.ranks() ? gathers : !opening.regions.local;
  return (gathered || awaited_.contains(held.id)) && !there && job_.nodes().labels.size() > 1;
}

// The node that writes a temporary segment can read it. A rank that runs elsewhere now needs it published: its flush is
// under way, or about to be. A failed flush is no reason to stop: other versions are left, and the engine reports it.
// False: nobody needs it from the store.
base::Result<bool> VersionReader::await_stored(const ipc::HeldSummary& held, const Opening& opening) {
  if (!held.committed || !Candidates{opening.version, passed_.excluded}.contain(held.id)) return false;
  const auto elsewhere = [&](std::uint32_t rank) {
    return rank < job_.ranks() && job_.nodes().node_of_rank[rank] != job_.nodes().mine;
  };
  if (std::any_of(held.spilled.begin(), held.spilled.end(), elsewhere)) return flush_waits_.await_half_flushed(held.id);
  return is_for_others(held, opening) ? flush_waits_.await(held.id) : base::Result<bool>(false);
}

base::Status VersionReader::report(const Opening& opening) {
  here_.told.clear();
  here_.kept.clear();
  if (!job_.leads()) return {};
  ipc::Channel& channel = job_.engine().channel();
  const ipc::Inventory question{opening.name, job_.group().network_open()};
  PERDURE_TRY(auto reply, channel.call(question));
  // The newest comes first: it is wanted most, and the time is limited.
  std::sort(reply.held.begin(), reply.held.end(),
            [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  bool waited = false;
  for (const auto& held : reply.held) {
    PERDURE_TRY(const bool waited_now, await_stored(held, opening));
    waited = waited || waited_now;
  }
  if (waited) {
    PERDURE_TRY(reply, channel.call(question));
  }
  const auto told = holdings_to_tell(reply, job_.nodes().mine, job_.nodes().labels.size());
  here_.told = base::encode_fields(told);
  if (reply.kept && !told.shares) here_.kept = std::move(*reply.kept);
  return {};
}

// All ranks have their node's inventory before they meet here, and rank 0 reads the store afterwards. So it sees there
// the versions that leave the tiers meanwhile.
base::Result<Opened> VersionReader::agree_on_call(Opening opening, const base::Status& mine) {
  for (unsigned tries = 1;; ++tries) {
    base::Status ready = mine ? job_.announce() : mine;
    if (ready) {
      const auto reported = base::caught("restore", [&] { return report(opening); });
      opening.engine_lost = job_.engine().gone();
      // The engine that died is replaced, and asked again.
      if (!reported && (!opening.engine_lost || tries == kMostTries)) ready = reported;
    }
    opening.bytes = here_.told.size() + (job_.comm().rank() == 0 ? inline_bytes(job_) + kLengthBytes : 0);
    job_.add_incarnation(opening);
    PERDURE_TRY(auto opened, job_.exchange(opening, ready));
    if (!opened.any_engine_lost) {
      job_.tell_incarnation(opening.name, opened.incarnation);
      return opened;
    }
    if (tries == kMostTries)
      return base::fail(PERDURE_UNAVAILABLE, "engines", "one of them ends again and again", "see their reports", true);
    PERDURE_CHECK(job_.attach());
  }
}

// [collective] Gives the holdings of all nodes. The store's content comes with the first node's message.
base::Result<VersionReader::Seen> VersionReader::look(const Opening& opening,
                                                      const std::vector<std::uint64_t>& lengths) {
  const std::size_t room = inline_bytes(job_);
  std::vector<std::byte> stored, behind;
  if (job_.comm().rank() == 0) {
    stored = encoded_store(job_, opening, passed_.excluded);
    append_store(here_.told, stored, room);
  }
  Seen seen;
  PERDURE_CHECK(
      comm::tell_all(job_.comm(), job_.leader(), here_.told, lengths,
                     [&](std::size_t node, base::ConstByteSpan bytes) -> base::Status {
                       if (node == 0) {
                         if (bytes.size() < room + kLengthBytes)
                           return base::fail(PERDURE_CORRUPT, "store view", "rank 0 told less than it announced");
                         behind.assign(bytes.end() - static_cast<std::ptrdiff_t>(room + kLengthBytes), bytes.end());
                         bytes = bytes.first(bytes.size() - behind.size());
                       }
                       PERDURE_TRY(auto told, base::decode_fields<ToldHoldings>(bytes, "inventory"));
                       seen.all.add(static_cast<std::uint32_t>(node), std::move(told));
                       return {};
                     }));
  here_.told.clear();
  PERDURE_TRY(stored, take_store(job_.comm(), behind, std::move(stored)));
  PERDURE_TRY(seen.store, base::decode_fields<StoreView>(stored, "store view"));
  return seen;
}

// Tells whether ranks of other nodes can have it from the store only.
bool VersionReader::others_need(const StoreLoss& loss, const Opening& opening) const {
  if (job_.group().network_open() || job_.nodes().labels.size() == 1) return false;
  if (loss.of_ranks != job_.ranks()) return !regions_.local;
  bool needed = regions_.arrays || (opening.detail & kPart) != 0;
  loss.ranks.for_each([&](std::uint32_t rank) {
    needed = needed || (rank < job_.ranks() && job_.nodes().node_of_rank[rank] != loss.node);
  });
  return needed;
}

// Brings segments again, once in a call, that were damaged in the store and are complete on the node that brought them.
// True if others need them: then all look again, which waits for it. The next exchange notices an engine that dies.
bool VersionReader::bring_again(const Opening& opening, const JobInventory& all, const StoreView& store) {
  bool look_again = false;
  for (const auto& loss : store_losses(all, store, {opening.version, passed_.excluded, store.line})) {
    const bool needed = others_need(loss, opening);
    bool news = false;
    for (const std::uint32_t segment : loss.segments) news |= asked_again_.insert({loss.id, loss.node, segment}).second;
    if (!news) continue;
    if (needed) awaited_.insert(loss.id);
    look_again = look_again || needed;
    if (job_.leads() && loss.node == job_.nodes().mine)
      (void)base::caught("restore", [&] {
        return job_.engine().channel().call(ipc::SegmentsGone{loss.id, loss.segments});
      });
  }
  return look_again;
}

// [collective] Gathers everything there is to choose from.
base::Result<VersionReader::Seen> VersionReader::see(const Opening& opening, const base::Status& mine) {
  for (;;) {
    forget();
    PERDURE_TRY(const auto opened, agree_on_call(opening, mine));
    regions_ = opened.regions;
    PERDURE_TRY(auto seen, look(opening, opened.bytes));
    for (const auto& suspect : seen.store.suspects)  // otherwise it is in the view
      seen.store.aside.push_back({suspect.id, suspect.ref.index, suspect.ref.count});
    PERDURE_CHECK(client::read_again(job_, seen.store));
    if (seen.store.forgotten_ns != 0) PERDURE_CHECK(forget_held(seen.all, opening.name, seen.store.forgotten_ns));
    if (!bring_again(opening, seen.all, seen.store)) return seen;
  }
}

base::Status VersionReader::choose(const Opening& opening, const base::Status& mine) {
  PERDURE_TRY(auto seen, see(opening, mine));
  auto& [all, store] = seen;
  const bool network = job_.group().network_open();
  const Candidates candidates{opening.version, passed_.excluded, store.line};
  auto plans = plan_versions(all, store, job_.nodes().node_of_rank, network, not_fetched_, !regions_.local);
  if (const auto needed = wanting(plans, all, candidates); !needed.empty())
    PERDURE_CHECK(gather_shares(job_.comm(), job_.leader(), shares_to_tell(job_.nodes().mine, here_.kept, needed),
                                needed, job_.leads(), all, store, job_.nodes().node_of_rank, plans));
  const auto chosen = choose_version(plans, candidates);
  const bool not_latest =
      chosen && opening.version < 0 && store.unreadable && newer_is_stored(all, *chosen, candidates);
  if (not_latest) store.unreadable->cause += kNotTheLatest;
  if (store.unreadable && (!chosen || not_latest)) return base::fail(*store.unreadable);
  const auto others = chosen ? 0 : other_ranks(plans, all, store, candidates, job_.ranks());
  if (others != 0) return base::fail(written_by_others(opening.name, others, job_.ranks(), opening.local_region));
  if (!chosen) {
    PERDURE_TRY(const auto why, why_nothing(opening, plans, all, store));
    return base::fail(why);
  }
  id_ = *chosen;
  keep_newer(passed_.over, id_);
  if (opening.version < 0) pass_over(plans, all, store, candidates);
  take(std::move(plans.of.at(id_)), std::move(all), std::move(store));
  return {};
}

// Engines may still hold, or keep for others, versions that were forgotten on purpose. Nobody restores them, and each
// leader's engine drops them. An engine that dies now is asked again by the next restore.
base::Status VersionReader::forget_held(JobInventory& all, const std::string& name, std::uint64_t forgotten_ns) {
  const auto old_here = [&](std::uint32_t node, const segment::VersionId& id) {
    return node == job_.nodes().mine && id.attempt.created_ns <= forgotten_ns;
  };
  const bool any =
      std::any_of(all.held.begin(), all.held.end(), [&](const auto& h) { return old_here(h.node, h.held.id); }) ||
      std::any_of(all.kept.begin(), all.kept.end(), [&](const auto& k) { return old_here(k.first, k.second.id); });
  base::Status outcome;
  if (any && job_.leads()) {
    const auto retired = base::caught("engine", [&] {
      return job_.engine().channel().call(ipc::Retire{name, std::nullopt, forgotten_ns});
    });
    if (!retired && retired.error().code != PERDURE_UNAVAILABLE) outcome = base::fail(retired.error());
  }
  std::erase_if(all.held, [&](const auto& holding) { return holding.held.id.attempt.created_ns <= forgotten_ns; });
  std::erase_if(all.kept, [&](const auto& kept) { return kept.second.id.attempt.created_ns <= forgotten_ns; });
  return agree(job_.comm(), outcome);
}

void VersionReader::forget() {
  images_.clear();
  regions_ = {};
  where_ = {};
  suspect_.reset();
  sources_.clear();
  segments_.reset();
  fetching_ = {};
}

void VersionReader::take(VersionPlan plan, JobInventory all, StoreView store) {
  where_ = Whereabouts(job_, id_, std::move(plan), std::move(all), std::move(store));
  if (!where_.plan().on_nodes || of_other_ranks()) return;
  sources_ = where_.plan().pieces.of_rank;
  segments_ = plan::lay_out_missing(known_parts(id_, where_.all(), where_.store()), job_.nodes().node_of_rank,
                                    job_.aggregation(), where_.store().unreadable.has_value());
  fetching_.wanted = ranks_to_fetch();
  if (job_.leads() && !fetching_.wanted.empty()) fetching_.nodes = where_.nodes_to_ask(fetching_.wanted);
}

void VersionReader::set_aside_unread() {
  for (auto& [rank, image] : images_) image.set_aside_unread();
}

base::Status VersionReader::exclude(const base::Error& why) {
  passed_.excluded.insert(id_);
  PERDURE_TRY(const std::string reason, common_reason(job_.comm(), why));
  passed_.over.push_back({id_, reason});
  note(id_.text() + " cannot be restored: " + reason + "; an older version is looked for");
  return {};
}

// Runs on each node, on the rank that speaks for it.
void VersionReader::note(const std::string& text) {
  if (!job_.leads() || !job_.engine().connected()) return;
  (void)base::caught("restore", [&] { return job_.engine().channel().call(ipc::Note{text}); });
}

// Notes newer versions that could not be taken.
void VersionReader::pass_over(const VersionPlans& plans, const JobInventory& all, const StoreView& store,
                              const Candidates& candidates) {
  for (PassedOver& one : newer_than(id_, plans, all, store, candidates)) {
    const bool known = std::any_of(passed_.over.begin(), passed_.over.end(),
                                   [&](const PassedOver& other) { return other.id == one.id; });
    if (known) continue;
    note(one.id.text() + " cannot be restored: " + one.why + "; " + id_.text() + " is taken instead");
    passed_.over.push_back(std::move(one));
  }
}

// [collective] Gives all ranks the same error; rank 0 looks at the quarantine.
base::Result<base::Error> VersionReader::why_nothing(const Opening& opening, const VersionPlans& plans,
                                                     const JobInventory& all, const StoreView& store) {
  std::vector<std::byte> told;
  if (job_.comm().rank() == 0) {
    const auto why =
        base::caught("store", [&] { return base::Result<base::Error>(nothing_found(opening, plans, all, store)); });
    told = base::encode_fields(why ? *why : why.error());
  }
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(job_.comm(), told, 0));
  return base::decode_fields<base::Error>(bytes, "reason");
}

// Lists all versions of the name, whatever was asked for.
base::Result<VersionsOfName> VersionReader::there_is(const std::string& name, const JobInventory& all,
                                                     const StoreView& store) const {
  VersionsOfName there;
  const auto add = [&](const segment::VersionId& id) {
    if (id.name != name || id.attempt.created_ns <= store.forgotten_ns) return;
    const bool of_line = store.line.empty() || plan::on_line(store.line, id.attempt);
    (of_line ? there.of_line : there.elsewhere).push_back(id);
  };
  PERDURE_TRY(const auto listings, list_versions(job_.store(), name, job_.known()));
  for (const auto& listing : listings) add(listing.id);
  for (const auto& [node, held] : all.held) {
    if (held.committed) add(held.id);
    there.remains = there.remains || held.id.name == name;
  }
  for (const auto& [node, kept] : all.kept) there.remains = there.remains || kept.id.name == name;
  return there;
}

namespace {

// A call for the newest of a name, on any branch, asks for all versions of that name.
bool is_asked_for(const segment::VersionId& id, const Opening& opening, const plan::Line& line) {
  if (id.name != opening.name || (opening.version < 0 && !branch_in(opening.detail))) return id.name == opening.name;
  const bool of_line = line.empty() || plan::on_line(line, id.attempt);
  return of_line && (opening.version < 0 || id.version == static_cast<std::uint64_t>(opening.version));
}

using IsAskedFor = std::function<bool(const segment::VersionId& id)>;

Evidence evidence_of(const IsAskedFor& asked_for, const JobInventory& all, const StoreView& store,
                     const std::set<segment::VersionId>& excluded) {
  Evidence evidence;
  for (const auto& version : store.versions) evidence.in_store.push_back(version.id);
  std::copy_if(excluded.begin(), excluded.end(), std::back_inserter(evidence.failed), asked_for);
  for (const auto& [node, held] : all.held) {
    if (!asked_for(held.id)) continue;
    evidence.on_nodes.push_back(held.id);
    if (!held.unreachable.empty()) evidence.unreachable.push_back(held.id);
  }
  for (const auto& [node, kept] : all.kept)
    if (asked_for(kept.id)) evidence.on_nodes.push_back(kept.id);
  return evidence;
}

// Says what the newest version on nodes lacks.
std::string newest_lost(const IsAskedFor& asked_for, const VersionPlans& plans) {
  const std::pair<const segment::VersionId, VersionPlan>* newest = nullptr;
  for (const auto& entry : plans.of)
    if (entry.second.on_nodes && asked_for(entry.first) && !entry.second.pieces.whole() &&
        (newest == nullptr || newest->first.attempt < entry.first.attempt))
      newest = &entry;
  return newest == nullptr ? "" : "; of " + newest->first.text() + ", " + *newest->second.pieces.lost;
}

}  // namespace

base::Error VersionReader::nothing_found(const Opening& opening, const VersionPlans& plans, const JobInventory& all,
                                         const StoreView& store) const {
  const auto branch = branch_in(opening.detail);
  const IsAskedFor asked_for = [&](const segment::VersionId& id) { return is_asked_for(id, opening, store.line); };
  auto there = there_is(opening.name, all, store);
  if (!there) return there.error();
  auto evidence = evidence_of(asked_for, all, store, passed_.excluded);
  auto aside = job_.store().set_aside(opening.name);
  if (!aside && aside.error().code != PERDURE_NOT_FOUND) return aside.error();
  there->remains = there->remains || (aside && !aside->empty());
  if (aside)
    for (auto& segment : *aside)
      if (asked_for(segment.id)) evidence.aside.push_back(std::move(segment));
  base::Error error = absence(opening.name, opening.version, evidence);
  if (error.code == PERDURE_NOT_FOUND && (opening.version >= 0 || branch) && there->any())
    return no_such_version(opening.name, opening.version, branch, *there);
  add_left_branch(opening.version, *there, error);
  error.cause += newest_lost(asked_for, plans);
  return error;
}

base::Result<bool> VersionReader::read_again() {
  std::optional<Suspect> mine = suspect_;
  for (const auto& [rank, image] : images_)
    if (image.suspect()) mine = image.suspect();
  return client::read_again(job_, std::move(mine));
}

base::Result<RankImage*> VersionReader::image(std::uint32_t rank) {
  if (const auto known = images_.find(rank); known != images_.end()) return &known->second;
  if (rank >= ranks())
    return base::fail(PERDURE_INVALID_ARGUMENT, "rank " + std::to_string(rank),
                      "the version has " + std::to_string(ranks()) + " ranks");
  const StoredSegment* stored = where_.segment_of(rank);
  auto located = RankImage::locate(job_, id_, rank, where_.here(rank), stored);
  // The segment's table of this rank alone is read here for the first time.
  if (!located && stored != nullptr && located.error().code == PERDURE_CORRUPT)
    suspect_ = Suspect{id_, stored->ref, located.error(), rank};
  // It is intact, but this node cannot read it: no older version may take its place.
  if (!located && located.error().code == PERDURE_NOT_FOUND && !where_.here(rank) && rank != job_.rank() &&
      where_.plan().pieces.whole() && stored == nullptr)
    return base::fail(PERDURE_UNAVAILABLE, id_.text(),
                      "the data of rank " + std::to_string(rank) +
                          " is on another node that this one cannot ask, and not in the store yet",
                      "restore again when it is stored, or set redundancy.scheme, which connects the nodes", true);
  if (!located) return base::fail(std::move(located).error());
  return &images_.emplace(rank, std::move(*located)).first->second;
}

base::Result<const segment::Piece*> VersionReader::locate(std::uint32_t rank) {
  PERDURE_TRY(const RankImage* found, image(rank));
  return &found->piece();
}

base::Status VersionReader::read_chunk(std::uint32_t rank, std::size_t chunk,
                                       const std::vector<capture::MemorySpan>& spans) {
  PERDURE_TRY(RankImage * found, image(rank));
  if (chunk >= found->piece().chunks.size())
    return base::fail(PERDURE_CORRUPT, id_.text(),
                      "rank " + std::to_string(rank) + " has no chunk " + std::to_string(chunk));
  return found->read_chunk(chunk, spans);
}

void VersionReader::let_go(std::uint32_t rank) {
  if (const auto image = images_.find(rank); image != images_.end()) image->second.close_store();
}

base::Status VersionReader::read(std::uint32_t rank, capture::ChunkRange range, base::ByteSpan target) {
  PERDURE_TRY(RankImage * found, image(rank));
  const std::uint64_t bytes = found->piece().capture_bytes();
  if (range.begin > bytes || range.length > bytes - range.begin || target.size() != range.length)
    return base::fail(PERDURE_INVALID_ARGUMENT, id_.text() + ", rank " + std::to_string(rank),
                      "bytes " + std::to_string(range.begin) + " to " + std::to_string(range.end()) + " of its " +
                          std::to_string(bytes) + " do not fit " + std::to_string(target.size()) + " bytes of memory");
  const auto chunks = found->ranges();
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::uint64_t begin = std::max(chunks[i].begin, range.begin), end = std::min(chunks[i].end(), range.end());
    if (begin >= end) continue;
    PERDURE_CHECK(found->read_chunk(i, {{nullptr, begin - chunks[i].begin},
                                        {target.data() + (begin - range.begin), end - begin},
                                        {nullptr, chunks[i].end() - end}}));
  }
  return {};
}

base::Status VersionReader::restore(std::uint32_t rank, const std::vector<capture::ChunkRange>& needed,
                                    capture::Target& target) {
  PERDURE_TRY(RankImage * found, image(rank));
  const auto chunks = found->ranges();
  std::set<std::size_t> left = chunks_of(chunks, needed);
  ReadAhead ahead(*found);
  const auto begin_next = [&] {
    if (left.empty()) return;
    const std::size_t next = next_chunk(chunks, left, target.wanted());
    left.erase(next);
    ahead.begin(next, target.memory(chunks[next]), target.is_read_ahead());
  };
  begin_next();
  while (const auto chunk = ahead.chunk()) {
    PERDURE_TRY(const auto bytes, ahead.take());
    const bool ahead_of_it = target.is_read_ahead();  // asked before write(), which may change it
    if (ahead_of_it) begin_next();
    if (!bytes.empty()) PERDURE_CHECK(target.write(chunks[*chunk], bytes));
    os::crash_point(os::CrashPoint::restore_chunk);
    if (!ahead_of_it) begin_next();
  }
  return {};
}

BytesRead VersionReader::bytes_read() const {
  BytesRead sum;
  for (const auto& [rank, image] : images_) {
    sum.slots += image.bytes_read().slots;
    sum.store += image.bytes_read().store;
  }
  return sum;
}

void VersionReader::release() {
  NodeEngine& engine = job_.engine();
  const BytesRead sum = bytes_read();
  (void)base::caught("engine", [&]() -> base::Status {
    if (!engine.connected()) return {};
    if (!images_.empty()) (void)engine.channel().tell(ipc::Restored{sum.slots, sum.store});
    (void)engine.channel().call(ipc::Unpin{});
    return {};
  });
}

}  // namespace perdure::client
