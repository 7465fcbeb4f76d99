// How work on a version ends without the level: it fails, is forgotten, or gives way, and the group hears of it.
#include "engine/protector.hpp"

namespace perdure::engine {

// Nobody counts on a level that is not reached. What was recorded for it would keep slots, and the version, until a
// newer one is protected everywhere. An earlier launch's record stays, and all that is only forgotten: after a death
// that may still help. With mutex_ held; `changed` has to be called after that.
void Protector::fail(const WorkPointer& work, const base::Error& error) {
  if (work->failed || work->reached) return;
  work->failed = error;
  const auto& id = work->encoding.id().version;
  reports_.add(id.text() + ": it does not reach level node: " + error.text());
  const bool safe = own_part_stored(*work);
  {
    std::lock_guard guard(lock_);
    ++(safe ? core_.counters().protections_stored : core_.counters().protections_failed);
  }
  release(*work);
  unprotect(*work);
  work->unwanted = true;
  drop_order(*work);
}

// With mutex_ held: others may use this node's slots again, and those of blocks that were made, but never recorded.
void Protector::release(Work& work) {
  let_flush(work);
  std::lock_guard guard(lock_);
  core_.unpin(kKeeper, work.encoding.id().version);
  if (work.recorded) return;
  for (const auto& [name, chunk] : work.encoding.kept_blocks()) core_.give_back_kept({chunk.place, chunk.offset});
}

// With mutex_ held.
void Protector::unprotect(const Work& work) {
  std::lock_guard guard(lock_);
  if (auto done = core_.unprotect(work.encoding.id()); !done) reports_.add("catalog: " + done.error().text());
}

// It is protected, will not be, or that takes too long. With mutex_ held; `changed` has to be called after that.
void Protector::let_flush(Work& work) {
  work.first = false;
  std::lock_guard guard(lock_);
  core_.protect_before_flush(work.encoding.id().version, false);
}

// With mutex_ held.
void Protector::forget_older(const segment::VersionId& id) {
  std::vector<WorkPointer> older;
  for (const auto& [other, work] : works_)
    if (other.version.name == id.name && other.version.attempt < id.attempt && !work->reached) older.push_back(work);
  for (const auto& work : older) forget_superseded(work);
}

// With mutex_ held.
void Protector::forget_superseded(const WorkPointer& work) {
  if (work->here && !work->failed && !work->reached) {
    std::lock_guard guard(lock_);
    ++core_.counters().protections_superseded;
  }
  forget(work);
}

// With mutex_ held. Whoever works on it still finds out that it failed.
void Protector::forget(const WorkPointer& work) {
  const auto id = work->encoding.id();
  works_.erase(id);
  if (!work->failed && !work->reached) release(*work);
  work->failed = base::Error{PERDURE_UNAVAILABLE, id.text(), "it was given up", {}, false};
}

// Not all of the group may ever say that they have stored their part: whose pieces others store, and who is cut off.
void Protector::ask_store() const {
  if (!options_.ask_store) return;
  std::vector<segment::VersionId> in_doubt;
  {
    std::lock_guard guard(mutex_);
    for (const auto& [id, work] : works_)
      if (work->reached && !work->noting_stored && nothing_to_store(*work)) in_doubt.push_back(id.version);
  }
  for (const auto& id : in_doubt) options_.ask_store(id);
}

void Protector::give_way() {
  bool any = false;
  {
    std::lock_guard guard(mutex_);
    for (const auto& [id, work] : works_) {
      if (!work->here || work->reached || !nothing_to_store(*work)) continue;
      any = any || !work->failed;
      const char* why = work->stored_here ? "captures need the room, and the store has it"
                                          : "captures need the room, and other nodes bring it to the store";
      fail(work, {PERDURE_NO_SPACE, id.text(), why, "raise tier.memory.max_bytes or tier.file.max_bytes", false});
      unprotect(*work);  // where the catalog could not take it when it failed
    }
  }
  ask_store();
  if (!any) return;
  wake_.notify_all();  // the group is to hear of it
  changed_();
}

// Once to everybody who may wait for this node's part: who was told of it, or told of it. With mutex_ held.
Protector::Job Protector::next_farewell(const WorkPointer& work, std::uint64_t now_ns, std::uint64_t& wake_at_ns) {
  if (work->heard_failure || !membership_) return {};
  for (unsigned position = 0; position < work->told.size(); ++position) {
    Told& told = work->told[position];
    if (position == membership_->position || told.busy || told.gave_up) continue;
    if (!told.announced && !work->encoding.has_announced(position)) continue;
    if (now_ns < told.retry_at_ns) {
      earliest(wake_at_ns, told.retry_at_ns);
      continue;
    }
    told.gave_up = told.busy = true;
    const GroupMessage message{work->encoding.id(), membership_->position, GivesUp{work->failed->text()}};
    return [this, link = membership_->link, work, position, message] { tell(*link, work, position, message, 0); };
  }
  return {};
}

}  // namespace perdure::engine
