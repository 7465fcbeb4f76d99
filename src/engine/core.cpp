#include "engine/core.hpp"

#include <algorithm>
#include <numeric>

#include "base/bytes.hpp"
#include "os/crash_point.hpp"
#include "placement/policy.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kLostRemembered = 256;

base::Error not_held(const segment::VersionId& id) {
  return {PERDURE_NOT_FOUND, id.text(), "this node holds nothing of it", "", false};
}

bool piece_exists(const catalog::HeldVersion& held, const std::vector<std::uint32_t>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) { return held.pieces.contains(rank); });
}

}  // namespace

// ---- start -------------------------------------------------------------------------------------------------------

base::Status Core::recover() {
  trouble_.assign(tiers_.size(), {});
  for (const auto& error : catalog_.replay_report().damage) reports_.add("catalog: " + error.text());
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    PERDURE_CHECK(catalog_.append(catalog::TierRecord{number, tiers_[i]->properties().name, tiers_[i]->incarnation()}));
  }
  std::vector<segment::VersionId> impossible;
  for (const auto& [id, held] : catalog_.state().versions) {
    bool good = true;
    for (const auto& [rank, piece] : held.pieces)
      for (const auto& chunk : piece.chunks)
        good =
            good && chunk.place < tiers_.size() && tiers_[chunk.place]->adopt(chunk.offset, chunk.length).has_value();
    if (!good) impossible.push_back(id);
    Runtime& run = runtime_[id];
    if (held.committed) run.order = next_order_++;
  }
  return drop_impossible(impossible);
}

// A version whose slots the tiers do not know (a damaged catalog): its records go; slots that others use stay theirs.
base::Status Core::drop_impossible(const std::vector<segment::VersionId>& ids) {
  for (const auto& id : ids) {
    reports_.add(id.text() + ": the catalog and the tiers disagree about its slots; this node's copy was given up");
    PERDURE_CHECK(catalog_.append(catalog::DropRecord{id}));
    runtime_.erase(id);
  }
  if (ids.empty()) return {};
  for (auto& tier : tiers_)
    for (std::uint64_t slot = 0; slot < tier->usage().slots; ++slot) tier->release(slot);
  for (const auto& [id, held] : catalog_.state().versions)
    for (const auto& [rank, piece] : held.pieces)
      for (const auto& chunk : piece.chunks) PERDURE_CHECK(tiers_[chunk.place]->adopt(chunk.offset, chunk.length));
  return {};
}

// ---- slots -------------------------------------------------------------------------------------------------------

bool Core::evictable(const catalog::HeldVersion& held) const {
  auto it = runtime_.find(held.id);
  return held.all_stored() && (it == runtime_.end() || it->second.pinned_by.empty());
}

bool Core::flushing() const {
  return std::any_of(runtime_.begin(), runtime_.end(),
                     [](const auto& entry) { return entry.second.flush == FlushState::running; });
}

// While the store is failing, an older version may go when a newer one of the same name is safe here. Those that queue
// behind the one that fails are as stuck as it is, but not while it is being tried again.
bool Core::superseded_and_stuck(const catalog::HeldVersion& held) const {
  auto it = runtime_.find(held.id);
  if (!held.committed || it == runtime_.end() || !it->second.pinned_by.empty()) return false;
  const FlushState flush = it->second.flush;
  const bool stuck_behind = flush == FlushState::queued && store_failing_ && !flushing();
  if (flush != FlushState::waiting && flush != FlushState::given_up && !stuck_behind) return false;
  const auto& versions = catalog_.state().versions;
  return std::any_of(versions.begin(), versions.end(), [&](const auto& entry) {
    return entry.second.committed && entry.first.name == held.id.name && entry.first.attempt > held.id.attempt;
  });
}

bool Core::uses_tier(const catalog::HeldVersion& held, std::uint32_t tier) {
  return std::any_of(held.pieces.begin(), held.pieces.end(), [tier](const auto& entry) {
    const auto& chunks = entry.second.chunks;
    return std::any_of(chunks.begin(), chunks.end(), [tier](const auto& chunk) { return chunk.place == tier; });
  });
}

// The version to drop next for room on `tier`: the oldest that is stored, else the oldest that is superseded and stuck.
const catalog::HeldVersion* Core::victim(std::uint32_t tier, const segment::VersionId& for_version,
                                         bool stored_only) const {
  const catalog::HeldVersion* best = nullptr;
  for (const auto& [id, held] : catalog_.state().versions) {
    const bool may_go = evictable(held) || (!stored_only && superseded_and_stuck(held));
    if (id == for_version || !may_go || !uses_tier(held, tier)) continue;
    const bool better = best == nullptr || (held.all_stored() && !best->all_stored()) ||
                        (held.all_stored() == best->all_stored() && id.attempt < best->id.attempt);
    if (better) best = &held;
  }
  return best;
}

bool Core::evict(const catalog::HeldVersion& held) {
  const segment::VersionId id = held.id;
  const bool stored = held.all_stored();
  os::crash_point(os::CrashPoint::evict_before_catalog);
  if (auto dropped = drop(id); !dropped) {
    catalog_error_ = dropped.error();
    return false;
  }
  os::crash_point(os::CrashPoint::evict_after_catalog);
  if (!stored) note_lost(id);
  return true;
}

// Said once for as long as the store fails: a long outage must not bury other reports.
void Core::note_lost(const segment::VersionId& id) {
  if (dropped_++ == 0)
    reports_.add(id.text() +
                 ": given up before it reached the store, to make room for newer ones; so will others until the store "
                 "works again");
  lost_.push_back(id);
  if (lost_.size() > kLostRemembered) lost_.pop_front();
}

bool Core::lost(const segment::VersionId& id) const { return std::find(lost_.begin(), lost_.end(), id) != lost_.end(); }

// A tier that failed is avoided until the next checkpoint, and spoken of once until a capture used it again.
void Core::tier_failed(std::uint32_t tier, const std::string& why) {
  if (!trouble_[tier].reported)
    reports_.add("tier " + tiers_[tier]->properties().name + ": " + why + "; using the next tier");
  trouble_[tier] = {true, true};
}

// A tier grows to what two versions need. Beyond that, versions that are safe in the store go before more is taken from
// the system.
bool Core::make_room(std::uint32_t tier, std::uint64_t bytes, const segment::VersionId& for_version) {
  std::uint64_t target = 0;
  for (const auto& [client, sizes] : reserved_)
    target += 2 * std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  while (!tiers_[tier]->has_free(bytes) && tiers_[tier]->usage().bytes + bytes > target) {
    const auto* held = victim(tier, for_version, true);
    if (held == nullptr || !evict(*held)) break;
  }
  while (!tiers_[tier]->can_hold(bytes)) {
    const auto* held = victim(tier, for_version, false);
    if (held == nullptr || !evict(*held)) return false;
  }
  return true;
}

// Waiting for a slot makes sense only while something can free one.
bool Core::may_become_free(const segment::VersionId& for_version) const {
  if (catalog_error_) return false;
  for (const auto& [id, held] : catalog_.state().versions) {
    if (id == for_version) continue;
    auto it = runtime_.find(id);
    const bool stuck = it != runtime_.end() && it->second.flush == FlushState::given_up;
    const bool pinned = it != runtime_.end() && !it->second.pinned_by.empty();
    if ((held.committed && !stuck) || pinned) return true;
  }
  return std::any_of(in_flight_.begin(), in_flight_.end(),
                     [&](const auto& entry) { return entry.second.id != for_version; });
}

// Nothing is evicted for a tier that the rank avoids, nor for slower ones while a faster one has room.
std::vector<placement::TierView> Core::look_at_tiers(const ipc::Grant& request, std::size_t first) {
  std::vector<placement::TierView> views;
  for (auto t = static_cast<std::uint32_t>(first); t < tiers_.size(); ++t) {
    const auto writers =
        std::count_if(in_flight_.begin(), in_flight_.end(), [t](const auto& e) { return e.first.first == t; });
    const bool avoided = std::find(request.avoid.begin(), request.avoid.end(), t) != request.avoid.end();
    views.push_back(
        {!avoided && make_room(t, request.bytes, request.id), trouble_[t].failed, static_cast<unsigned>(writers)});
    if (views.back().can_hold && !trouble_[t].failed) break;
  }
  return views;
}

GrantOutcome Core::grant(ClientId client, const ipc::Grant& request) {
  os::crash_point(os::CrashPoint::engine_grant);
  catalog_error_.reset();
  std::size_t avoided = 0;
  for (std::uint32_t t = 0; t < tiers_.size(); ++t) {
    if (std::find(request.avoid.begin(), request.avoid.end(), t) == request.avoid.end()) continue;
    tier_failed(t, request.why);
    ++avoided;
  }
  GrantOutcome outcome;
  outcome.error = {PERDURE_NO_SPACE, "tiers", "no tier has room for a chunk of " + base::format_bytes(request.bytes),
                   "raise tier.memory.max_bytes or tier.file.max_bytes, or free space on tier.file.path", false};
  if (avoided == tiers_.size()) outcome.error.cause = "no tier can be written: " + request.why;
  auto views = look_at_tiers(request, 0);
  while (auto choice = placement::first_with_room(views)) {
    const auto t = static_cast<std::uint32_t>(*choice);
    auto slot = tiers_[t]->acquire(request.bytes, client);
    if (slot) {
      in_flight_[{t, *slot}] = {client, request.id, request.bytes};
      outcome.kind = GrantOutcome::Kind::granted;
      outcome.address = tiers_[t]->address(*slot);
      return outcome;
    }
    tier_failed(t, slot.error().text());
    outcome.error = slot.error();
    views[t].can_hold = false;
    for (const auto& slower : look_at_tiers(request, views.size())) views.push_back(slower);
  }
  if (catalog_error_) outcome.error = *catalog_error_;
  const bool wait = avoided < tiers_.size() && may_become_free(request.id);
  outcome.kind = wait ? GrantOutcome::Kind::wait : GrantOutcome::Kind::refused;
  return outcome;
}

void Core::release_slots(const catalog::HeldVersion& held) {
  for (const auto& [rank, piece] : held.pieces)
    for (const auto& chunk : piece.chunks)
      if (chunk.place < tiers_.size()) tiers_[chunk.place]->release(chunk.offset);
}

// A slot is recycled only after the catalog says so.
base::Status Core::drop(const segment::VersionId& id) {
  auto it = catalog_.state().versions.find(id);
  if (it == catalog_.state().versions.end()) return {};
  const catalog::HeldVersion held = it->second;
  PERDURE_CHECK(catalog_.append(catalog::DropRecord{id}));
  release_slots(held);
  in_hand_.erase(id);
  runtime_.erase(id);
  delayed_commits_.erase(id);
  return {};
}

std::vector<std::pair<tier::SlotAddress, std::uint64_t>> Core::reserve(ClientId client,
                                                                       const std::vector<std::uint64_t>& chunk_bytes) {
  reserved_[client] = chunk_bytes;
  std::vector<std::uint64_t> wanted = chunk_bytes;  // of two versions
  wanted.insert(wanted.end(), chunk_bytes.begin(), chunk_bytes.end());
  std::sort(wanted.rbegin(), wanted.rend());
  std::vector<std::pair<tier::SlotAddress, std::uint64_t>> slots;
  if (tiers_.empty()) return slots;
  for (const auto& reserved : tiers_[0]->reserve(wanted, client))
    slots.emplace_back(tiers_[0]->address(reserved.slot), reserved.bytes);
  return slots;
}

// ---- versions ----------------------------------------------------------------------------------------------------

base::Status Core::stage(ClientId client, const ipc::Stage& stage) {
  for (const auto& chunk : stage.piece.chunks) {
    auto it = in_flight_.find({chunk.place, chunk.offset});
    if (it == in_flight_.end() || it->second.client != client || it->second.id != stage.id ||
        chunk.length > it->second.bytes)
      return base::fail(PERDURE_INVALID_ARGUMENT, stage.id.text(), "a chunk names a slot that was not granted for it");
  }
  if (auto it = catalog_.state().versions.find(stage.id);
      it != catalog_.state().versions.end() && it->second.pieces.contains(stage.piece.rank))
    return base::fail(PERDURE_EXISTS, stage.id.text(),
                      "rank " + std::to_string(stage.piece.rank) + " has staged it already");
  os::crash_point(os::CrashPoint::engine_stage_before_catalog);
  PERDURE_CHECK(catalog_.append(catalog::StageRecord{stage.id, stage.ranks, stage.piece}));
  os::crash_point(os::CrashPoint::engine_stage_after_catalog);
  for (const auto& chunk : stage.piece.chunks) {
    in_flight_.erase({chunk.place, chunk.offset});
    trouble_[chunk.place].reported = false;
  }
  release_in_flight(client, &stage.id);  // slots that the rank could not write
  runtime_.try_emplace(stage.id);
  in_hand_[stage.id].insert(client);
  return {};
}

base::Status Core::commit(const ipc::Commit& commit) {
  auto it = catalog_.state().versions.find(commit.id);
  if (it == catalog_.state().versions.end()) return base::fail(not_held(commit.id));
  if (it->second.committed || delayed_commits_.contains(commit.id)) return {};
  std::vector<catalog::LocalSegment> segments;
  for (const auto& planned : commit.segments) {
    if (!piece_exists(it->second, planned.ranks))
      return base::fail(PERDURE_NOT_FOUND, commit.id.text(), "not every rank of this node has staged its piece");
    segments.push_back({planned.index, planned.count, planned.ranks, false});
  }
  os::crash_point(os::CrashPoint::engine_commit_before_catalog);
  const bool first_delayed = delayed_commits_.empty();
  delayed_commits_.emplace(commit.id, catalog::CommitRecord{commit.id, segments});
  if (auto written = write_delayed_commits(); !written && first_delayed)
    reports_.add("catalog: " + written.error().text() + "; " + commit.id.text() +
                 " will be flushed when it can be written again");
  os::crash_point(os::CrashPoint::engine_commit_after_catalog);
  in_hand_.erase(commit.id);
  Runtime& run = runtime_[commit.id];
  run.order = next_order_++;
  run.flush = FlushState::queued;
  for (TierTrouble& trouble : trouble_) trouble.failed = false;
  requeue_given_up();
  return {};
}

base::Status Core::write_delayed_commits() {
  while (!delayed_commits_.empty()) {
    PERDURE_CHECK(catalog_.append(delayed_commits_.begin()->second));
    delayed_commits_.erase(delayed_commits_.begin());
  }
  return {};
}

// The store may work again by now: versions that were given up get another chance, in their old order.
void Core::requeue_given_up() {
  for (auto& [id, run] : runtime_)
    if (run.flush == FlushState::given_up && run.error && run.error->code != PERDURE_CORRUPT)
      run.flush = FlushState::queued;
}

void Core::release_in_flight(ClientId client, const segment::VersionId* id) {
  for (auto it = in_flight_.begin(); it != in_flight_.end();) {
    if (it->second.client != client || (id != nullptr && it->second.id != *id)) {
      ++it;
      continue;
    }
    tiers_[it->first.first]->release(it->first.second);
    it = in_flight_.erase(it);
  }
}

base::Status Core::abort(ClientId client, const segment::VersionId& id) {
  release_in_flight(client, &id);
  auto held = catalog_.state().versions.find(id);
  if (delayed_commits_.contains(id) || (held != catalog_.state().versions.end() && held->second.committed))
    return base::fail(PERDURE_BUSY, id.text(), "it is committed and cannot be aborted", "retire it instead");
  return drop(id);
}

base::Result<const segment::Piece*> Core::locate(ClientId client, const segment::VersionId& id, std::uint32_t rank) {
  os::crash_point(os::CrashPoint::engine_locate);
  auto it = catalog_.state().versions.find(id);
  if (it == catalog_.state().versions.end() || !it->second.pieces.contains(rank)) return base::fail(not_held(id));
  runtime_[id].pinned_by.insert(client);
  return &it->second.pieces.at(rank);
}

void Core::unpin(ClientId client) {
  for (auto& [id, run] : runtime_) run.pinned_by.erase(client);
}

base::Status Core::quarantine(const ipc::Quarantine& quarantine) {
  auto it = catalog_.state().versions.find(quarantine.id);
  if (it == catalog_.state().versions.end()) return base::fail(not_held(quarantine.id));
  if (it->second.quarantined.contains({quarantine.rank, quarantine.chunk})) return {};
  PERDURE_CHECK(
      catalog_.append(catalog::QuarantineRecord{quarantine.id, quarantine.rank, quarantine.chunk, quarantine.why}));
  reports_.add("quarantine: " + quarantine.id.text() + ", rank " + std::to_string(quarantine.rank) + ", chunk " +
               std::to_string(quarantine.chunk) + " in a tier: " + quarantine.why + "; it will not be used");
  return {};
}

base::Status Core::retire(const std::string& name, std::uint64_t version) {
  std::vector<segment::VersionId> ids;
  for (const auto& [id, held] : catalog_.state().versions)
    if (id.name == name && id.version == version) ids.push_back(id);
  for (const auto& id : ids) PERDURE_CHECK(drop(id));
  return {};
}

void Core::client_gone(ClientId client) {
  release_in_flight(client, nullptr);
  reserved_.erase(client);
  for (auto& [id, clients] : in_hand_) clients.erase(client);
  std::erase_if(in_hand_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& tier : tiers_) tier->disown(client);
  unpin(client);
}

std::vector<ipc::HeldSummary> Core::inventory(const std::string& name) const {
  std::vector<ipc::HeldSummary> list;
  for (const auto& [id, held] : catalog_.state().versions) {
    if (!name.empty() && id.name != name) continue;
    // Asked for everything, to settle what dead ranks left: a capture whose ranks are still connected is theirs to
    // decide.
    const bool theirs = name.empty() && in_hand_.contains(id);
    ipc::HeldSummary summary{
        id, held.ranks, {}, held.committed || delayed_commits_.contains(id) || theirs, held.all_stored()};
    for (const auto& [rank, piece] : held.pieces)
      if (held.restorable(rank)) summary.held.push_back(rank);
    list.push_back(std::move(summary));
  }
  return list;
}

// ---- flush -------------------------------------------------------------------------------------------------------

std::optional<segment::VersionId> Core::next_flush() {
  (void)write_delayed_commits();  // reported when it began to fail
  const catalog::HeldVersion* best = nullptr;
  std::uint64_t best_order = 0;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Runtime& run = runtime_[id];
    const bool wants =
        held.committed && !held.all_stored() && (run.flush == FlushState::queued || run.flush == FlushState::waiting);
    if (!wants || (best != nullptr && run.order >= best_order)) continue;
    best = &held;
    best_order = run.order;
  }
  if (best == nullptr) return std::nullopt;
  runtime_[best->id].flush = FlushState::running;
  return best->id;
}

base::Status Core::segment_stored(const segment::VersionId& id, std::uint32_t segment) {
  if (!catalog_.state().versions.contains(id)) return {};
  os::crash_point(os::CrashPoint::flush_before_catalog);
  PERDURE_CHECK(catalog_.append(catalog::StoredRecord{id, segment}));
  os::crash_point(os::CrashPoint::flush_after_catalog);
  return {};
}

void Core::flush_succeeded(const segment::VersionId& id, std::uint64_t bytes, double seconds) {
  statistics_.bytes_flushed += bytes;
  statistics_.last_flush_s = seconds;
  if (bytes > 0 && seconds > 0) statistics_.flush_bytes_per_s.add(static_cast<double>(bytes) / seconds);
  if (dropped_ > 1)
    reports_.add(std::to_string(dropped_) + " checkpoints were given up to make room while the store failed");
  dropped_ = 0;
  store_failing_ = false;
  requeue_given_up();
  auto it = runtime_.find(id);
  if (it == runtime_.end()) return;
  it->second.flush = FlushState::queued;
  it->second.error.reset();
}

void Core::flush_failed(const segment::VersionId& id, const base::Error& error, bool give_up) {
  store_failing_ = store_failing_ || error.code != PERDURE_CORRUPT;
  auto it = runtime_.find(id);
  if (it == runtime_.end()) return;
  it->second.error = error;
  it->second.flush = give_up ? FlushState::given_up : FlushState::waiting;
}

base::Status Core::forget_old(const std::string& name, std::uint64_t keep) {
  std::vector<segment::VersionId> stored;
  for (const auto& [id, held] : catalog_.state().versions)
    if (id.name == name && evictable(held)) stored.push_back(id);
  std::sort(stored.begin(), stored.end(), [](const auto& a, const auto& b) { return a.attempt > b.attempt; });
  for (std::size_t i = keep; i < stored.size(); ++i) PERDURE_CHECK(drop(stored[i]));
  return stored.empty() ? base::Status() : drop_damaged(name, stored.front().attempt);
}

// What failed verification can never be stored: once a newer version is, it only keeps its slots from others, over
// every restart.
base::Status Core::drop_damaged(const std::string& name, const segment::Attempt& newest_stored) {
  std::vector<segment::VersionId> hopeless;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Runtime* run = runtime(id);
    const bool idle = run != nullptr && run->flush == FlushState::given_up && run->pinned_by.empty();
    if (id.name == name && id.attempt < newest_stored && idle && !held.quarantined.empty()) hopeless.push_back(id);
  }
  for (const auto& id : hopeless) {
    reports_.add(id.text() + ": damaged on this node; its slots are given up, because a newer version is at the store");
    PERDURE_CHECK(drop(id));
  }
  return {};
}

// ---- looking -----------------------------------------------------------------------------------------------------

const catalog::HeldVersion* Core::find(const segment::VersionId& id) const {
  auto it = catalog_.state().versions.find(id);
  return it == catalog_.state().versions.end() ? nullptr : &it->second;
}

const Runtime* Core::runtime(const segment::VersionId& id) const {
  auto it = runtime_.find(id);
  return it == runtime_.end() ? nullptr : &it->second;
}

std::uint64_t Core::pending_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, held] : catalog_.state().versions)
    if (held.committed && !held.all_stored()) bytes += held.bytes();
  return bytes;
}

std::size_t Core::pending_versions() const {
  std::size_t count = 0;
  for (const auto& [id, held] : catalog_.state().versions) {
    const Runtime* run = runtime(id);
    if (held.committed && !held.all_stored() && (run == nullptr || run->flush != FlushState::given_up)) ++count;
  }
  return count + delayed_commits_.size();
}

std::size_t Core::given_up_versions() const {
  std::size_t count = 0;
  for (const auto& [id, run] : runtime_)
    if (run.flush == FlushState::given_up) ++count;
  return count;
}

bool Core::holds_unstored() const {
  const auto& versions = catalog_.state().versions;
  return std::any_of(versions.begin(), versions.end(), [](const auto& entry) { return !entry.second.all_stored(); });
}

std::uint64_t Core::slot_bytes() const {
  std::uint64_t smallest = ~0ULL;
  for (const auto& tier : tiers_) smallest = std::min(smallest, tier->properties().slot_bytes);
  return smallest;
}

}  // namespace perdure::engine
