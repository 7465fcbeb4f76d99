#include "engine/recover/chunk_recovery.hpp"

#include "engine/recover/piece_exporter.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

ChunkRecovery::ChunkRecovery(const RecoveryContext& context, const std::atomic<bool>& stopping, const AskedNodes& nodes,
                             const segment::VersionId& id, std::vector<ExportedPieces> exported)
    : context_(context),
      stopping_(stopping),
      nodes_(nodes),
      id_(id),
      exported_(std::move(exported)),
      reconstruction_(exported_) {}

ChunkRecovery::~ChunkRecovery() {
  const auto ledger = context_.ledger.lock();
  for (const auto& item : items_)
    if (item.made) ledger->room.give_back({item.made->place, item.made->offset});
}

void ChunkRecovery::tell_suspects(ExportCollection& collection) {
  (void)base::caught(id_, [&]() -> base::Status {
    for (auto& [holder, blocks] : suspects_) {
      if (nodes_.own != holder)
        collection.suspect(holder, blocks);
      else
        PERDURE_CHECK(judge(context_.ledger, id_, exported_[holder], blocks));
    }
    return {};
  });
}

void ChunkRecovery::failed(const base::Error& why) {
  std::lock_guard guard(mutex_);
  if (outcome_) outcome_ = base::fail(why);
}

// If threads are refused, the others have more to do; the calling thread always works.
base::Status ChunkRecovery::run(Wanted wanted, EvictionScope room) {
  room_ = room;
  next_ = 0;
  outcome_ = {};
  os::Threads threads;
  const auto on_failure = [this](const base::Error& why) {
    failed(why);
    return false;
  };
  for (unsigned i = 1; i < std::min<std::size_t>(context_.threads, items_.size()); ++i)
    if (!threads.start(
            "recovery helper", [this] { work(); }, on_failure))
      break;
  const base::Status ran = base::caught(id_, [this]() -> base::Status {
    work();
    return {};
  });
  if (!ran) failed(ran.error());
  threads.join();
  const bool is_full = !outcome_ && outcome_.error().code == PERDURE_NO_SPACE;
  return is_full && wanted == Wanted::some ? base::Status() : outcome_;
}

void ChunkRecovery::work() {
  std::unique_lock guard(mutex_);
  while (outcome_ && next_ < items_.size()) {
    Item& item = items_[next_++];
    if (item.made) continue;
    guard.unlock();
    auto outcome = recover(item);
    guard.lock();
    if (!outcome && outcome_) outcome_ = std::move(outcome);
  }
}

// Each failure excludes a source, so the loop ends.
base::Status ChunkRecovery::recover(Item& item) {
  for (;;) {
    if (stopping_) return base::fail(PERDURE_CLOSED, id_.text(), "the engine ends");
    ReconstructionTask task;
    {
      std::lock_guard guard(mutex_);
      PERDURE_TRY(task, reconstruction_.task(item.name.rank, item.name.chunk));
    }
    const base::Status tried = try_once(item, task);
    if (tried) return {};
    if (tried.error().code == PERDURE_NO_SPACE || tried.error().code == PERDURE_CLOSED) return tried;
  }
}

// Makes the chunk from exported blocks, block by block.
base::Result<segment::ChunkEntry> ChunkRecovery::make(const ReconstructionTask& task, const tier::SlotAddress& slot,
                                                      FaultySource& culprit) {
  for (const auto& source : task.task.sources)
    if (exported_[source.holder].address.empty()) {
      auto chunk = make_at_server(task, slot, source);
      if (!chunk && chunk.error().code == PERDURE_CORRUPT)
        culprit.bad = source.block;
      else if (!chunk)
        culprit.unreachable = source.holder;
      return chunk;
    }
  BlockReader reader;
  reader.view = [&](const EncodingTask::Source& source) -> std::optional<BlockView> {
    if (nodes_.own == source.holder) return context_.network->view(source.place, source.length);
    return nodes_.link.view(source.holder, source.place, source.length);
  };
  reader.read = [&](const EncodingTask::Source& source, std::uint64_t offset, base::ByteSpan target) -> base::Status {
    auto done = nodes_.link.read(source.holder, source.place, offset, target);
    if (!done) culprit.unreachable = source.holder;
    return done;
  };
  BlockEncoder encoder(std::move(reader), slots_);
  return encoder.encode(task.task, slot, &culprit.bad);
}

// The parity server reads the survivors and returns the lost block. Any failure other than a wrong result counts as the
// server's: without it, nothing of this stripe can be rebuilt.
base::Result<segment::ChunkEntry> ChunkRecovery::make_at_server(const ReconstructionTask& task,
                                                                const tier::SlotAddress& slot,
                                                                const EncodingTask::Source& parity) {
  if (context_.parity == nullptr || !task.task.hash)
    return base::fail(PERDURE_UNAVAILABLE, id_.text(), "this engine knows no parity server",
                      "set redundancy.parity_servers");
  const auto& record = exported_[parity.holder].parts.front().redundancy_set;
  std::vector<ParityStore::Survivor> survivors;
  std::vector<BlockView> views;
  for (const auto& source : task.task.sources) {
    if (source.holder == parity.holder) continue;
    ParityStore::Survivor survivor{source, exported_[source.holder].address, {}};
    if (nodes_.own == source.holder) {
      auto view = context_.network->view(source.place, source.length);
      if (!view) return base::fail(PERDURE_UNAVAILABLE, id_.text(), "a slot of this node cannot be read");
      survivor.address.clear();
      survivor.here = view->bytes;
      views.push_back(std::move(*view));
    }
    survivors.push_back(std::move(survivor));
  }
  std::vector<std::byte> target(task.task.length);
  PERDURE_CHECK(context_.parity->rebuild({record.id, record.group},
                                         {task.block.position, task.block.number, *task.task.hash}, survivors, target));
  PERDURE_CHECK(slots_.prepare(slot, target.size()));
  base::Hasher hasher;
  PERDURE_CHECK(slots_.write(slot, 0, target, hasher));
  return segment::ChunkEntry{slot.slot, target.size(), hasher.digest(), slot.tier};
}

base::Status ChunkRecovery::try_once(Item& item, const ReconstructionTask& task) {
  tier::SlotAddress slot;
  {
    const auto ledger = context_.ledger.lock();
    PERDURE_TRY(slot, ledger->room.take_for_redundancy(id_, task.task.length, room_));
  }
  FaultySource found;
  const auto chunk = base::caught(id_, [&] { return make(task, slot, found); });
  std::lock_guard guard(mutex_);
  if (chunk) {
    item.made = *chunk;
    item.rebuilt = task.rebuilt;
    return {};
  }
  {
    const auto ledger = context_.ledger.lock();
    ledger->room.give_back({slot.tier, slot.slot});
  }
  if (chunk.error().code != PERDURE_CORRUPT && !found.unreachable)
    return base::fail(PERDURE_NO_SPACE, chunk.error().object, chunk.error().text(), "", true);
  leave_out(task, found, chunk.error());
  return base::fail(chunk.error());
}

// Called with the mutex held.
void ChunkRecovery::leave_out(const ReconstructionTask& task, const FaultySource& found, const base::Error& why) {
  EncodingTask::Source culprit = task.task.sources.back();  // for a wrong result: a parity, which comes last
  for (const auto& source : task.task.sources)
    if (found.bad && source.block == *found.bad) culprit = source;
  if (found.bad && !found.unreachable) suspects_[culprit.holder].push_back(culprit.place);
  context_.reports.add(id_.text() + ": " + why.text() + "; it counts as lost");
  if (found.unreachable)
    reconstruction_.gone(*found.unreachable);
  else
    reconstruction_.damaged(culprit);
}

}  // namespace perdure::engine
