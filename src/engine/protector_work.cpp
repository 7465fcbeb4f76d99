// What the protector's threads do: one thing after another, whichever is possible.
#include <algorithm>

#include "engine/protector.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kBlocksPerOffer = 256;

/// Trying again can help, without anybody doing anything.
bool passes(const base::Error& error) {
  return error.retryable || error.code == PERDURE_PEER_FAILED || error.code == PERDURE_TIMEOUT ||
         error.code == PERDURE_UNAVAILABLE || error.code == PERDURE_BUSY;
}

void earliest(std::uint64_t& wake_at_ns, std::uint64_t at_ns) {
  if (wake_at_ns == 0 || at_ns < wake_at_ns) wake_at_ns = at_ns;
}

}  // namespace

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
    } else if (const Job job = next_job(now_ns, wake_at_ns)) {
      guard.unlock();
      job();
      guard.lock();
    } else if (!chores_.empty() && !chore_running_) {
      const Job chore = std::move(chores_.front());
      chores_.pop_front();
      chore_running_ = true;
      guard.unlock();
      chore();
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

Protector::Job Protector::job_of(const WorkPointer& work, std::uint64_t now_ns, std::uint64_t& wake_at_ns) {
  if (work->failed) return next_farewell(work);
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

std::optional<GroupMessage> Protector::next_message(const Work& work, const Told& told, std::size_t& blocks) const {
  GroupMessage message{work.encoding.id(), membership_->position, Keeps{}};
  const auto& group = work.encoding.group();
  if (!work.here && !work.early) return std::nullopt;
  if (!told.announced) {
    message.body =
        Announce{group.scheme->name, group.members, group.parities, group.number, work.encoding.ranks(), work.pieces};
    return message;
  }
  if (told.offered < work.offers.size() && (all_written(work) || !others_go_first(work))) {
    blocks = std::min(kBlocksPerOffer, work.offers.size() - told.offered);
    const auto first = work.offers.begin() + static_cast<std::ptrdiff_t>(told.offered);
    message.body = Offer{{first, first + static_cast<std::ptrdiff_t>(blocks)}};
    return message;
  }
  if (work.recorded && !told.keeps) return message;
  if (work.parity_kept && !told.parity_keeps) {
    message.position = membership_->group.members;
    return message;
  }
  if (work.reached && work.stored_here && !told.stored) {
    message.body = Stored{};
    return message;
  }
  return std::nullopt;
}

Protector::Job Protector::next_telling(const WorkPointer& work, std::uint64_t now_ns, std::uint64_t& wake_at_ns) {
  for (unsigned position = 0; position < work->told.size(); ++position) {
    Told& told = work->told[position];
    if (position == membership_->position || told.busy) continue;
    std::size_t blocks = 0;
    auto message = next_message(*work, told, blocks);
    if (!message) continue;
    if (now_ns < told.retry_at_ns) {
      earliest(wake_at_ns, told.retry_at_ns);
      continue;
    }
    told.busy = true;
    return [this, work, position, message = std::move(*message), blocks] { tell(work, position, message, blocks); };
  }
  return {};
}

void Protector::tell(const WorkPointer& work, unsigned position, const GroupMessage& message, std::size_t blocks) {
  std::shared_ptr<GroupLink> link;
  {
    std::lock_guard guard(mutex_);
    if (!membership_ || (work->failed && !std::holds_alternative<GivesUp>(message.body))) return;
    link = membership_->link;
  }
  const base::Status heard = link->tell(position, engine::encode(message));
  {
    std::lock_guard guard(mutex_);
    Told& told = work->told[position];
    told.busy = false;
    if (!heard && passes(heard.error())) {
      told.retry_at_ns = os::monotonic_ns() + options_.retry_ns;
      if (heard.error().code != PERDURE_BUSY) let_flush(*work);
    } else if (!heard) {
      fail(work, heard.error());
    } else if (std::holds_alternative<Announce>(message.body)) {
      told.announced = true;
    } else if (std::holds_alternative<Offer>(message.body)) {
      told.offered += blocks;
    } else if (std::holds_alternative<Keeps>(message.body)) {
      (message.position == work->told.size() ? told.parity_keeps : told.keeps) = true;
    } else if (std::holds_alternative<Stored>(message.body)) {
      told.stored = true;
    }
  }
  wake_.notify_all();
  if (!heard) changed_();
}

base::Result<segment::ChunkEntry> Protector::encode_into_slot(GroupLink& link, const redundancy::Code* code,
                                                              const Work& work, const EncodingTask& task, bool early) {
  tier::SlotAddress slot;
  {
    std::lock_guard guard(lock_);
    const auto& id = work.encoding.id().version;
    PERDURE_TRY(slot, early ? core_.take_spare_slot(id, task.length) : core_.take_slot_to_keep(id, task.length));
  }
  BlockReader reader;
  reader.view = [&](const EncodingTask::Source& source) {
    return link.view(source.block.position, source.place, source.length);
  };
  reader.read = [&](const EncodingTask::Source& source, std::uint64_t offset, base::ByteSpan target) {
    return link.read(source.block.position, source.place, offset, target);
  };
  BlockEncoder encoder(code, std::move(reader), slots_);
  std::optional<redundancy::Block> bad;
  auto chunk = encoder.encode(task, slot, &bad);
  if (chunk) return chunk;
  std::lock_guard guard(lock_);
  core_.give_back_kept({slot.tier, slot.slot});
  return chunk;
}

void Protector::encode(const WorkPointer& work, const EncodingTask& task) {
  std::shared_ptr<GroupLink> link;
  std::shared_ptr<const redundancy::Code> code;
  bool early = false;
  {
    std::lock_guard guard(mutex_);
    if (work->failed) return;
    link = membership_->link;
    code = code_;
    early = !work->here;
  }
  auto chunk = encode_into_slot(*link, code.get(), *work, task, early);
  std::unique_lock guard(mutex_);
  if (chunk && !work->failed) {
    work->encoding.kept(task.name, *chunk);
  } else if (chunk) {
    std::lock_guard core_guard(lock_);
    core_.give_back_kept({chunk->place, chunk->offset});
  } else if (chunk.error().code == PERDURE_NO_SPACE && work->stored_here) {
    fail(work, chunk.error());  // captures may wait for the slots that it keeps: the store has it
  } else if (early || passes(chunk.error()) || chunk.error().code == PERDURE_NO_SPACE) {
    // Until the commit a peer's slot may have been given back with its capture: nothing is known to be wrong.
    work->encoding.failed(task);
    let_flush(*work);
    work->retry_at_ns = early && work->here ? 0 : os::monotonic_ns() + options_.retry_ns;
  } else {
    fail(work, chunk.error());
  }
  guard.unlock();
  wake_.notify_all();
  if (!chunk) changed_();
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
      later([parity = membership_->parity, id = work->encoding.id().version] { parity->drop(id); });
    forget(work);
  }
  changed_();
}

}  // namespace perdure::engine
