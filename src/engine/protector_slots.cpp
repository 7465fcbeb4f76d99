// What a node has in slots for its group: its own chunks, offered to the others, and the blocks that it makes out of
// theirs.
#include "engine/protector.hpp"
#include "os/system.hpp"

namespace perdure::engine {

// The pieces and slots of this node. With mutex_ held.
base::Status Protector::fill(Work& work, const segment::VersionId& id) {
  std::vector<NewBlock> blocks;
  std::vector<segment::Piece> pieces;
  {
    std::lock_guard guard(lock_);
    const auto* held = core_.find(id);
    if (held == nullptr || held->any_moved())
      return base::fail(PERDURE_UNAVAILABLE, id.text(), "a part of it has left this node's tiers already",
                        "raise tier.memory.max_bytes, so that a version fits");
    std::vector<std::uint64_t> counts;
    for (const auto& [rank, piece] : held->pieces) {
      // A rank that moved has left its piece here; where it runs now it is protected.
      if (!membership_->ranks.empty() && !membership_->ranks.contains(rank)) continue;
      pieces.push_back(piece);
      counts.push_back(piece.chunks.size());
    }
    const redundancy::BlockOrder order(counts);
    for (std::uint64_t number = 0; number < order.count(); ++number) {
      const auto where = order.chunk(number);
      const auto& chunk = pieces[where.rank].chunks[where.chunk];
      blocks.push_back({number, core_.address(chunk), chunk.hash});
    }
    core_.pin(kKeeper, id);
  }
  PERDURE_CHECK(work.encoding.announced(membership_->position, pieces));
  if (!work.early) work.pieces = std::move(pieces);
  PERDURE_CHECK(offer(work, blocks));
  work.here = true;
  work.retry_at_ns = 0;
  return {};
}

// Slots become readable for the others. With mutex_ held.
base::Status Protector::offer(Work& work, const std::vector<NewBlock>& blocks) {
  for (const NewBlock& block : blocks) {
    const auto [known, added] = work.hash.emplace(block.number, block.hash);
    if (!added && known->second == block.hash) continue;
    if (!added)
      return base::fail(PERDURE_CORRUPT, work.encoding.id().text(),
                        "block " + std::to_string(block.number) + " was committed with another hash than written");
    PERDURE_TRY(auto place, membership_->link->place(block.slot));
    work.offers.push_back({block.number, block.hash, std::move(place)});
    PERDURE_CHECK(work.encoding.offered(membership_->position, work.offers.back()));
  }
  return {};
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
  const bool no_room = !chunk && chunk.error().code == PERDURE_NO_SPACE;
  if (no_room && !early) ask_store();
  std::unique_lock guard(mutex_);
  if (chunk && !work->failed) {
    work->encoding.kept(task.name, *chunk);
    std::lock_guard core_guard(lock_);
    core_.counters().encoded_bytes += chunk->length;
  } else if (chunk) {
    std::lock_guard core_guard(lock_);
    core_.give_back_kept({chunk->place, chunk->offset});
  } else if (no_room && !early && nothing_to_store(*work)) {
    fail(work, chunk.error());  // captures may wait for the slots that it keeps: the store has it, or will from others
  } else if (early || no_room || passes(chunk.error())) {
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

}  // namespace perdure::engine
