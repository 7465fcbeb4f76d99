// What the protector's threads do: one thing after another, whichever is possible.
#include <algorithm>

#include "engine/protector.hpp"
#include "os/system.hpp"

namespace perdure::engine {

void Protector::run() {
  std::unique_lock guard(mutex_);
  while (!stopping_) {
    const std::uint64_t now_ns = os::monotonic_ns();
    std::uint64_t wake_at_ns = 0;
    if (!committed_.empty()) {
      const auto id = std::move(committed_.front());
      committed_.pop_front();
      begin(id);
      wake_.notify_all();
      guard.unlock();
      changed_();
      guard.lock();
    } else if (!captures_.empty()) {
      const auto id = *captures_.begin();
      captures_.erase(captures_.begin());
      follow_capture(id);
      wake_.notify_all();
    } else if (Job job = next_job(now_ns, wake_at_ns)) {
      guard.unlock();
      job();
      job = {};  // without the mutex: it may be the last that has the network
      guard.lock();
    } else if (!chores_.empty() && !chore_running_) {
      Job chore = std::move(chores_.front());
      chores_.pop_front();
      chore_running_ = true;
      guard.unlock();
      chore();
      chore = {};
      guard.lock();
      chore_running_ = false;
      guard.unlock();
      changed_();  // the engine may have waited for it to end
      guard.lock();
    } else if (wake_at_ns == 0) {
      wake_.wait(guard);
    } else {
      wake_.wait_for(guard, std::chrono::nanoseconds(wake_at_ns - std::min(now_ns, wake_at_ns)));
    }
  }
}

// Newer versions first: once one is protected, the older ones do not matter any more.
Protector::Job Protector::next_job(std::uint64_t now_ns, std::uint64_t& wake_at_ns) {
  std::vector<WorkPointer> newest;
  for (const auto& [id, work] : works_) newest.push_back(work);
  std::sort(newest.begin(), newest.end(), [](const auto& a, const auto& b) {
    return a->encoding.id().version.attempt > b->encoding.id().version.attempt;
  });
  for (const auto& work : newest)
    if (Job job = job_of(work, now_ns, wake_at_ns)) return job;
  return {};
}

// Trying again can help, without anybody doing anything.
bool Protector::passes(const base::Error& error) {
  return error.retryable || error.code == PERDURE_PEER_FAILED || error.code == PERDURE_TIMEOUT ||
         error.code == PERDURE_UNAVAILABLE || error.code == PERDURE_BUSY;
}

void Protector::earliest(std::uint64_t& wake_at_ns, std::uint64_t at_ns) {
  if (wake_at_ns == 0 || at_ns < wake_at_ns) wake_at_ns = at_ns;
}

Protector::Job Protector::job_of(const WorkPointer& work, std::uint64_t now_ns, std::uint64_t& wake_at_ns) {
  if (work->failed) return next_farewell(work, now_ns, wake_at_ns);
  if (work->noting_stored) return {};
  if (work->reached && all_stored(*work)) {
    work->noting_stored = true;
    return [this, work] { note_stored(work); };
  }
  if (work->first && now_ns >= work->begun_ns + options_.first_ns) {
    let_flush(*work);
    return changed_;
  }
  if (work->first) earliest(wake_at_ns, work->begun_ns + options_.first_ns);
  if (Job telling = next_telling(work, now_ns, wake_at_ns)) return telling;
  if (!work->here && !work->early) return {};
  if (now_ns < work->retry_at_ns) {
    earliest(wake_at_ns, work->retry_at_ns);
    return {};
  }
  if (others_go_first(*work)) return {};
  if (auto task = work->encoding.next_task()) return [this, work, task = std::move(*task)] { encode(work, task); };
  if (work->here && !work->recorded && !work->recording && work->encoding.complete()) {
    work->recording = true;
    return [this, work] { record(work); };
  }
  if (Job ordering = job_with_server(work)) return ordering;
  const bool all_told = std::all_of(work->told.begin(), work->told.end(), [&](const Told& told) {
    return (told.keeps && (!work->parity_kept || told.parity_keeps)) ||
           static_cast<std::size_t>(&told - work->told.data()) == membership_->position;
  });
  if (work->recorded && !work->reaching && !work->reached && all_told && work->encoding.reached()) {
    work->reaching = true;
    return [this, work] { note_reached(work); };
  }
  return {};
}

// What the catalog cannot take now it may take later; what it refuses is a defect.
void Protector::catalog_said(const WorkPointer& work, const base::Status& status) {
  if (status) return;
  if (status.error().code == PERDURE_INVALID_ARGUMENT || status.error().code == PERDURE_NOT_FOUND)
    fail(work, status.error());
  else
    work->retry_at_ns = os::monotonic_ns() + options_.retry_ns;
}

void Protector::record(const WorkPointer& work) {
  {
    std::lock_guard guard(mutex_);
    work->recording = false;
    if (work->failed) return;
    base::Status kept;
    {
      std::lock_guard core_guard(lock_);
      kept = core_.keep(work->encoding.protection());
    }
    if (kept) work->encoding.keeps(membership_->position);
    work->recorded = kept.has_value();
    catalog_said(work, kept);
  }
  wake_.notify_all();
}

// The others have all they need of this node's slots, and keep what this node needs of them.
void Protector::note_reached(const WorkPointer& work) {
  {
    std::lock_guard guard(mutex_);
    work->reaching = false;
    if (work->failed) return;
    base::Status noted;
    {
      std::lock_guard core_guard(lock_);
      noted = core_.protection_reached(work->encoding.id());
    }
    catalog_said(work, noted);
    if (noted) {
      forget_older(work->encoding.id().version);
      release(*work);
      work->reached = true;
      done_.insert(work->encoding.id().version);
    }
  }
  wake_.notify_all();
  changed_();
}

bool Protector::all_stored(const Work& work) const {
  if (work.whole_at_store) return true;
  if (!work.stored_here || work.stored_at.size() + 1 < work.told.size()) return false;
  for (unsigned position = 0; position < work.told.size(); ++position)
    if (position != membership_->position && !work.told[position].stored) return false;
  return true;
}

// Nobody will rebuild anything out of what is kept for this version: there is the store.
void Protector::note_stored(const WorkPointer& work) {
  {
    std::lock_guard guard(mutex_);
    if (work->failed) return;
    {
      std::lock_guard core_guard(lock_);
      core_.group_stored(work->encoding.id());
    }
    if (work->parity_kept)
      later([parity = membership_->parity, group = group_at_server(*work)] { parity->drop(group); });
    forget(work);
  }
  changed_();
}

}  // namespace perdure::engine
