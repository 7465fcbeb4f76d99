#include "engine/replicate/replicator.hpp"

#include <algorithm>

#include "os/system.hpp"

namespace perdure::engine {

Replicator::Replicator(Ledger& ledger, Reports& reports, ReplicatorOptions options, std::function<void()> changed)
    : ledger_(ledger, reports), options_(std::move(options)), changed_(std::move(changed)), publisher_(ledger_) {
  sending_.door->replicator = this;
  for (unsigned i = 0; i < options_.threads; ++i) {
    if (const auto begun = start_thread(threads_.all, ReplicationJobs::For::all_else); !begun) threads_.started = begun;
  }
  if (!threads_.all.empty()) threads_.started = {};  // the threads that exist have to do
}

void Replicator::stop() {
  std::shared_ptr<const Membership> left;
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
    left = leave_group();
  }
  threads_.wake.notify_all();
  threads_.wake_server.notify_all();
  {
    std::lock_guard guard(sending_.door->mutex);  // a thread that delivers an answer has left it
    sending_.door->replicator = nullptr;
  }
  threads_.all.join();
  threads_.of_server.join();
}

base::Status Replicator::join(Membership membership) {
  const auto& group = membership.group;
  if (group.scheme->map(group.members, group.parities) == redundancy::nothing_kept())
    return base::fail(PERDURE_INVALID_ARGUMENT, "redundancy scheme " + std::string(group.scheme->name),
                      "it cannot have a group of " + std::to_string(group.members) + " with " +
                          std::to_string(group.parities) + " parities");
  auto joined = std::make_shared<const Membership>(std::move(membership));
  if (joined->parity) start_thread_for_server();
  std::shared_ptr<const Membership> left;
  {
    std::lock_guard guard(mutex_);
    left = leave_group();
    group_ = std::move(joined);
  }
  changed_();
  return {};
}

void Replicator::leave() {
  std::shared_ptr<const Membership> left;
  {
    std::lock_guard guard(mutex_);
    left = leave_group();
  }
  if (left) changed_();  // otherwise nothing changed, and at the engine's end nobody is there to be told
}

// The return value may be the network's last reference, so it must be released without the mutex. The node leaves the
// group whatever happens: a node that stayed would be told of engines that are gone. If memory is refused, nobody else
// would release the rest.
std::shared_ptr<const Membership> Replicator::leave_group() noexcept {
  const auto left = std::exchange(versions_, {});
  for (const auto& [id, tracked] : left)
    for (const auto& [epoch, entry] : tracked.by_epoch) {
      const auto step_out = [this, &of = entry]() -> base::Status {
        (void)step(of, event::Left{});
        return {};
      };
      if (base::caught("group", step_out)) continue;
      (void)base::caught("group", step_out);
      base::attempt([this, &of = id] { ledger_.hold_flush(of, false); });
      base::attempt([this, &of = id] { ledger_.pin(of, false); });
    }
  past_.clear();
  wanted_.clear();
  if (group_) group_->link->close();
  return std::exchange(group_, nullptr);
}

// ---- what this node knows

Replicator::EntryPointer Replicator::find(const segment::VersionId& id) const {
  return group_ ? find(catalog::RedundancyId{id, group_->epoch}) : nullptr;
}

Replicator::EntryPointer Replicator::find(const catalog::RedundancyId& id) const {
  const auto version = versions_.find(id.version);
  if (version == versions_.end()) return nullptr;
  const auto it = version->second.by_epoch.find(id.epoch);
  return it == version->second.by_epoch.end() ? nullptr : it->second;
}

// The entry is complete before it is inserted: threads look at every entry, even after memory was refused here.
Replicator::EntryPointer Replicator::find_or_make(const catalog::RedundancyId& id, std::uint32_t ranks) {
  if (auto known = find(id)) return known;
  const Membership& in = *group_;
  const ReplicationOptions options{options_.threads, options_.retry_ns, options_.first_ns};
  auto entry =
      std::make_shared<Entry>(Replication(id, in.group, in.position, ranks, options), group_, ++sending_.entries);
  versions_[id.version].by_epoch[id.epoch] = entry;
  return entry;
}

std::vector<Replicator::EntryPointer> Replicator::entries() const {
  std::vector<EntryPointer> all;
  for (const auto& [id, tracked] : versions_)
    for (const auto& [epoch, entry] : tracked.by_epoch) all.push_back(entry);
  return all;
}

// A level that an earlier launch reached proves nothing, since nodes that had a part in it may be gone.
KnownBefore Replicator::known_before(const catalog::RedundancyId& id) const {
  const KnownBefore* past = past_.find(id.version);
  if ((past != nullptr && *past == KnownBefore::reached) || ledger_.reached(id)) return KnownBefore::reached;
  return past == nullptr ? KnownBefore::nothing : *past;
}

Replicator::State Replicator::state(const segment::VersionId& id) const {
  State state;
  std::lock_guard guard(mutex_);
  const EntryPointer entry = find(id);
  if (entry) {
    const bool withdrawn = entry->phase() >= ReplicationPhase::withdrawn;
    if (withdrawn) state.failed = entry->replication.why();
    state.under_way = entry->phase() < ReplicationPhase::reached;
    state.stored = entry->replication.state().store >= StoreHas::own_part;
  }
  state.reached = group_ && known_before({id, group_->epoch}) == KnownBefore::reached;
  return state;
}

std::size_t Replicator::under_way() const {
  std::lock_guard guard(mutex_);
  const auto all = entries();
  const auto count = std::count_if(all.begin(), all.end(), [](const auto& entry) {
    const auto phase = entry->phase();
    return phase < ReplicationPhase::reached && phase != ReplicationPhase::capturing;
  });
  return static_cast<std::size_t>(count) + jobs_.drops();
}

// ---- what the engine says

void Replicator::committed(const segment::VersionId& id) {
  const Held held(*this);
  if (!group_) return;
  const auto ranks = ledger_.ranks_of(id);
  const catalog::RedundancyId redundancy{id, group_->epoch};
  if (!ranks || known_before(redundancy) == KnownBefore::reached) return;
  past_.forget(id);
  (void)step(find_or_make(redundancy, *ranks), event::Committed{});
}

// A version that reached the level, and is not whole any more, is not replicated again by its group in this launch. A
// node that has no part of it has no say.
ipc::ReplicatingAgain Replicator::again(const segment::VersionId& id) {
  {
    std::lock_guard guard(mutex_);
    if (!group_ || !ledger_.ranks_of(id)) return {true, true};
    if (ledger_.promise(id)) return {true, false};
    const EntryPointer entry = find(id);
    const bool over = entry && entry->phase() >= ReplicationPhase::reached;
    if (over || known_before({id, group_->epoch}) == KnownBefore::reached) return {false, false};
  }
  committed(id);
  return {false, true};
}

void Replicator::stored(const segment::VersionId& id) {
  const Held held(*this);
  const EntryPointer entry = find(id);
  if (!entry || !ledger_.part_stored(id, entry->replication.pieces())) return;
  (void)step(entry, event::PartStored{});
}

void Replicator::whole_at_store(const segment::VersionId& id) {
  const Held held(*this);
  if (const EntryPointer entry = find(id)) (void)step(entry, event::WholeAtStore{});
}

void Replicator::gone(const segment::VersionId& id) {
  const Held held(*this);
  if (!group_) return;
  drop_later([id](ParityStore& parity) { parity.drop(id); });
  if (const EntryPointer entry = find(id)) (void)step(entry, event::Dropped{});
  past_.note(id, KnownBefore::dropped);
}

void Replicator::superseded(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep) {
  const Held held(*this);
  if (group_ && group_->position == 0)
    drop_later([name, attempt_ns, keep](ParityStore& parity) { parity.drop_older(name, attempt_ns, keep); });
  wanted_[name] = keep;
  for (const auto& entry : entries()) {
    const auto& id = entry->id().version;
    if (id.name == name && id.attempt.created_ns < attempt_ns && !wanted(id)) (void)step(entry, event::Superseded{});
  }
}

void Replicator::release_room() {
  Held held(*this);  // the group must be told of versions that were given up
  for (const auto& entry : entries())
    (void)step(entry,
               event::RoomWanted{event::RoomWanted::By::captures, ledger_.nothing_to_store(entry->id().version)});
  deliver(held.guard());
}

bool Replicator::wanted(const segment::VersionId& id) const {
  const auto known = wanted_.find(id.name);
  return known != wanted_.end() && known->second.contains(id.attempt.created_ns);
}

void Replicator::drop_stored(const std::vector<ipc::StoredName>& stored) {
  const Held held(*this);
  drop_later([stored](ParityStore& parity) {
    for (const auto& until : stored) parity.drop_older(until.name, until.attempt_ns + 1, {});
  });
}

// ---- what the others say

base::Status Replicator::receive(base::ConstByteSpan bytes) {
  PERDURE_TRY(GroupMessage message, decode_group_message(bytes));
  Held held(*this);
  auto answer = take(std::move(message));
  deliver(held.guard());
  return answer;
}

// The entry is released with the mutex: it may refer to the network, which must not end on one of its own threads.
base::Status Replicator::take(GroupMessage message) {
  if (!group_ || group_->epoch != message.id.epoch)
    return base::fail(PERDURE_BUSY, message.id.text(), "this node is in another launch of the job", {}, true);
  if (message.position == group_->position)
    return base::fail(PERDURE_INVALID_ARGUMENT, message.id.text(), "it claims to be from this position");
  const bool known = find(message.id) != nullptr;
  if (!known)
    if (const auto unknown = answer_to_unknown(message, known_before(message.id))) return *unknown;
  const auto* announce = std::get_if<Announce>(&message.body);
  const EntryPointer entry = find_or_make(message.id, announce == nullptr ? 0 : announce->ranks);
  auto answer = step(entry, event::Received{std::move(message)});
  if (!answer && !known) erase(entry);  // a refused message leaves no trace
  return answer;
}

}  // namespace perdure::engine
