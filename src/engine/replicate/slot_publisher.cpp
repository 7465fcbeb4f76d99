#include "engine/replicate/slot_publisher.hpp"

namespace perdure::engine {

base::Result<std::vector<OfferedBlock>> SlotPublisher::place(GroupLink& link, const segment::VersionId& id,
                                                             const std::vector<BlockInSlot>& blocks,
                                                             PublishedSlots& slots) {
  std::vector<OfferedBlock> offered;
  for (const BlockInSlot& block : blocks) {
    const auto known = slots.hashes.find(block.number);
    if (known != slots.hashes.end() && known->second == block.hash) continue;
    if (known != slots.hashes.end())
      return base::fail(PERDURE_CORRUPT, id.text(),
                        "block " + std::to_string(block.number) + " was committed with another hash than written");
    PERDURE_TRY(auto place, link.place(block.slot));
    offered.push_back({block.number, block.hash, std::move(place)});
    slots.hashes.emplace(block.number, block.hash);
  }
  return offered;
}

base::Result<SlotPublisher::Followed> SlotPublisher::follow(GroupLink& link, const segment::VersionId& id,
                                                            std::uint64_t least, PublishedSlots& slots) {
  std::size_t seen = slots.seen;
  auto observed = ledger_.observe_capture(id, seen);
  Followed followed{observed.over, observed.ranks};
  std::uint64_t bytes = 0;
  for (const auto& piece : observed.pieces) bytes += piece.capture_bytes();
  if (observed.pieces.empty() || bytes < least) return followed;
  slots.seen = seen;
  PERDURE_TRY(auto blocks, place(link, id, observed.blocks, slots));
  followed.published = event::CapturePublished{std::move(observed.pieces), std::move(blocks)};
  return followed;
}

base::Result<event::Published> SlotPublisher::publish(GroupLink& link, const segment::VersionId& id,
                                                      const std::set<std::uint32_t>& ranks, PublishedSlots& slots) {
  PERDURE_TRY(auto observed, ledger_.observe_committed(id, ranks));
  PERDURE_TRY(auto blocks, place(link, id, observed.blocks, slots));
  const bool stored = ledger_.part_stored(id, observed.pieces);
  return event::Published{std::move(observed.pieces), std::move(blocks), stored};
}

}  // namespace perdure::engine
