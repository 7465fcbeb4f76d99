// Carries out the actions of a Replication: those for the ledger at once, the rest by the replicator's threads.
#include <algorithm>

#include "engine/replicate/replicator.hpp"
#include "os/system.hpp"

namespace perdure::engine {

base::Status Replicator::step(const EntryPointer& entry, const ReplicationEvent& event) {
  const bool early = entry->phase() == ReplicationPhase::capturing ||
                     std::holds_alternative<event::CapturePublished>(event);  // otherwise no job yields
  const Moment moment{os::monotonic_ns(), early && options_.busy && options_.busy()};
  const auto phase = entry->phase();
  const bool held = entry->replication.state().flush_held;
  base::Status answer;
  std::exception_ptr thrown;  // the state has advanced, so the other actions are carried out all the same
  for (auto& action : entry->replication.step(event, moment)) {
    try {
      if (const auto* said = std::get_if<action::Answer>(&action)) answer = said->status;
      carry_out(entry, action);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  // Before the end, only flushes and those who wait for room are interested in a change.
  const bool over = entry->phase() != phase && entry->phase() >= ReplicationPhase::reached;
  if (over || (held && !entry->replication.state().flush_held)) outbox_.changed = true;
  if (thrown) std::rethrow_exception(thrown);
  return answer;
}

void Replicator::carry_out(const EntryPointer& entry, ReplicationAction& action) {
  const auto& id = entry->id().version;
  if (const auto* wake = std::get_if<action::WakeAt>(&action))
    entry->wake_at_ns = wake->ns;
  else if (std::holds_alternative<action::Publish>(action))
    want_published(id, Publication::Wanted::commit);
  else if (std::holds_alternative<action::Reached>(action))
    reached(entry);
  else if (std::holds_alternative<action::DropOrder>(action))
    drop_at_server(entry);
  else if (std::holds_alternative<action::AskStore>(action))
    outbox_.ask_store.push_back(id);
  else if (std::holds_alternative<action::SeekRoom>(action))
    seek_room(entry);
  else if (std::holds_alternative<action::Forget>(action))
    forget(entry);
  else
    carry_out_at_ledger(entry, action), start_job(entry, action);
}

void Replicator::carry_out_at_ledger(const EntryPointer& entry, const ReplicationAction& action) {
  const auto& id = entry->id().version;
  if (std::holds_alternative<action::Pin>(action)) ledger_.pin(id, true);
  if (std::holds_alternative<action::Unpin>(action)) ledger_.pin(id, false);
  if (std::holds_alternative<action::HoldFlush>(action)) ledger_.hold_flush(id, true);
  if (std::holds_alternative<action::LetFlush>(action)) ledger_.hold_flush(id, false);
  if (std::holds_alternative<action::NoteGroupStored>(action)) ledger_.note_group_stored(entry->id());
  if (std::holds_alternative<action::DropRedundancy>(action)) ledger_.drop(entry->id());
  if (const auto* back = std::get_if<action::GiveBack>(&action)) ledger_.give_back(back->blocks);
  if (const auto* withdrawn = std::get_if<action::ReportWithdrawn>(&action))
    ledger_.report_withdrawn(id, withdrawn->why, withdrawn->part_stored);
  if (std::holds_alternative<action::CountSuperseded>(action)) ledger_.count_superseded();
}

// A version that a newer one of this group supersedes need not be replicated, unless other groups rely on it. Two
// groups that each skip the other's version would never have any version in common.
void Replicator::reached(const EntryPointer& entry) {
  const auto& id = entry->id().version;
  past_.note(id, KnownBefore::reached);
  for (const auto& other : entries())
    if (other->id().version.name == id.name && other->id().version.attempt < id.attempt &&
        other->phase() != ReplicationPhase::reached && !wanted(other->id().version))
      (void)step(other, event::Superseded{});
}

void Replicator::forget(const EntryPointer& entry) {
  if (find(entry->id()) != entry) return;
  erase(entry);
  drop_publication(entry->id().version);
}

// The publication of a capture that is still followed stays.
void Replicator::erase(const EntryPointer& entry) {
  if (find(entry->id()) != entry) return;
  auto& tracked = versions_.at(entry->id().version);
  tracked.by_epoch.erase(entry->id().epoch);
  if (tracked.by_epoch.empty() && !tracked.publication) versions_.erase(entry->id().version);
}

void Replicator::drop_publication(const segment::VersionId& id) {
  const auto it = versions_.find(id);
  if (it == versions_.end()) return;
  it->second.publication.reset();
  if (it->second.by_epoch.empty()) versions_.erase(it);
}

// The store may have all of a version that is at level node.
void Replicator::seek_room(const EntryPointer& entry) {
  for (const auto& other : entries())
    if (other != entry)
      (void)step(other,
                 event::RoomWanted{event::RoomWanted::By::redundancy, ledger_.nothing_to_store(other->id().version)});
}

// ---- the parity server

void Replicator::drop_later(std::function<void(ParityStore&)> drop) {
  if (!group_ || !group_->parity) return;
  jobs_.add(ReplicationJobs::Kind::drop, {}, [group = group_, drop = std::move(drop)] { drop(*group->parity); });
}

void Replicator::drop_at_server(const EntryPointer& entry) {
  if (!entry->group->parity) return;
  const ParityStore::Group group{entry->id(), entry->group->group.number};
  jobs_.add(ReplicationJobs::Kind::drop, {}, [in = entry->group, group] { in->parity->drop(group); });
}

// ---- jobs

void Replicator::add(ReplicationJobs::Kind kind, const EntryPointer& entry, std::function<ReplicationEvent()> work) {
  // Newer versions come first, except those that other groups rely on.
  const auto& id = entry->id().version;
  jobs_.add(kind, wanted(id) ? segment::Attempt{~0ULL, 0} : id.attempt, [this, entry, work = std::move(work)] {
    const base::Status done = base::caught(entry->id(), [&]() -> base::Status {
      const ReplicationEvent event = work();
      std::lock_guard guard(mutex_);
      (void)step(entry, event);
      return {};
    });
    if (done) return;
    std::lock_guard guard(mutex_);
    give_up(entry, done.error());
  });
}

// The outcome of its jobs cannot be delivered any more, so the version stays at its lower level.
void Replicator::give_up(const EntryPointer& entry, const base::Error& why) {
  base::attempt([&] { ledger_.report(entry->id().text() + ": it does not reach level node: " + why.text()); });
  if (entry->phase() != ReplicationPhase::ended) (void)step(entry, event::Left{});
}

// A peer that is connected gets its message at once, and the thread that receives its answer continues from there. A
// thread for each message would be woken twice, and wait in between.
bool Replicator::begin_send(const EntryPointer& entry, const action::Send& send) {
  const auto told = [door = sending_.door, id = entry->id(), number = entry->number,
                     position = send.position](base::Status outcome) {
    std::lock_guard guard(door->mutex);
    if (door->replicator != nullptr) door->replicator->sent(id, number, {position, std::move(outcome)});
  };
  const auto begun = base::caught("message", [&]() -> base::Result<bool> {
    return entry->group->link->begin_send(send.position, engine::encode(send.message), told);
  });
  return begun && *begun;
}

// The answer for an entry that is gone is ignored; the version may have begun again.
void Replicator::sent(const catalog::RedundancyId& id, std::uint64_t number, event::Sent sent) {
  Held held(*this);
  {
    const EntryPointer entry = find(id);
    if (!entry || entry->number != number) return;
    const base::Status done = base::caught("message", [&]() -> base::Status {
      (void)step(entry, std::move(sent));
      return {};
    });
    if (!done) give_up(entry, done.error());
  }
  deliver(held.guard());
}

void Replicator::start_job(const EntryPointer& entry, ReplicationAction& next) {
  using Kind = ReplicationJobs::Kind;
  const Entry* e = entry.get();  // lives as long as the job
  if (auto* send = std::get_if<action::Send>(&next); send != nullptr && !begin_send(entry, *send))
    add(Kind::send, entry, [e, position = send->position, message = std::move(send->message)]() -> ReplicationEvent {
      return event::Sent{
          position, base::caught("message", [&] { return e->group->link->send(position, engine::encode(message)); })};
    });
  if (auto* encode = std::get_if<action::Encode>(&next))
    add(Kind::work, entry, [this, e, task = std::move(*encode)] { return this->encode(*e, task); });
  if (auto* record = std::get_if<action::Record>(&next))
    add(Kind::work, entry, [this, set = std::move(record->redundancy_set)]() -> ReplicationEvent {
      if (auto kept = base::caught("catalog", [&] { return ledger_.record(set); }); !kept)
        return event::RecordingFailed{kept.error()};
      return event::Recorded{};
    });
  if (std::holds_alternative<action::NoteReached>(next))
    add(Kind::work, entry, [this, id = entry->id()]() -> ReplicationEvent {
      if (auto noted = base::caught("catalog", [&] { return ledger_.note_reached(id); }); !noted)
        return event::NotingFailed{noted.error()};
      return event::ReachedNoted{};
    });
  if (auto* order = std::get_if<action::Order>(&next))
    add(Kind::order, entry, [e, id = entry->id(), blocks = std::move(order->blocks)]() -> ReplicationEvent {
      const Membership& in = *e->group;
      if (!in.parity)
        return event::Ordered{base::fail(PERDURE_UNSUPPORTED, "parity server", "this engine knows none",
                                         "set redundancy.parity_servers")};
      return event::Ordered{base::caught("parity server", [&] {
        return in.parity->order({id, in.group.number}, in.addresses, blocks);
      })};
    });
}

ReplicationEvent Replicator::encode(const Entry& entry, const action::Encode& encode) {
  {
    std::lock_guard guard(mutex_);
    if (entry.phase() >= ReplicationPhase::withdrawn)  // nobody needs it any more
      return event::EncodingFailed{encode.task, {}, encode.before_commit, false};
  }
  auto chunk = base::caught(entry.id(), [&] { return encode_into_slot(entry, encode); });
  if (!chunk)
    return event::EncodingFailed{encode.task, chunk.error(), encode.before_commit,
                                 ledger_.nothing_to_store(entry.id().version)};
  ledger_.count_encoded(chunk->length);
  return event::Encoded{encode.task.name, *chunk};
}

base::Result<segment::ChunkEntry> Replicator::encode_into_slot(const Entry& entry, const action::Encode& encode) {
  const EncodingTask& task = encode.task;
  GroupLink& link = *entry.group->link;
  PERDURE_TRY(const auto slot, ledger_.take_slot(entry.id().version, task.length, encode.before_commit));
  BlockReader reader;
  reader.view = [&](const EncodingTask::Source& source) {
    return link.view(source.block.position, source.place, source.length);
  };
  reader.read = [&](const EncodingTask::Source& source, std::uint64_t offset, base::ByteSpan target) {
    return link.read(source.block.position, source.place, offset, target);
  };
  BlockEncoder encoder(std::move(reader), slots_);
  auto chunk = base::caught(entry.id(), [&] { return encoder.encode(task, slot); });
  if (!chunk) ledger_.give_back(slot);
  return chunk;
}

}  // namespace perdure::engine
