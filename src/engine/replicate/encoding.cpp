#include "engine/replicate/encoding.hpp"

#include <algorithm>

#include "engine/ledger/redundancy_share.hpp"

namespace perdure::engine {
namespace {

using redundancy::Block;

std::vector<std::uint64_t> chunk_counts(const std::vector<segment::Piece>& pieces) {
  std::vector<std::uint64_t> counts;
  for (const auto& piece : pieces) counts.push_back(piece.chunks.size());
  return counts;
}

bool same_shape(const segment::Piece& a, const segment::Piece& b) {
  return a.rank == b.rank && a.chunk_bytes == b.chunk_bytes && a.regions == b.regions &&
         a.chunks.size() == b.chunks.size();
}

}  // namespace

Encoding::Encoding(catalog::RedundancyId id, GroupScheme group, unsigned position, std::uint32_t ranks)
    : group_(group), map_(group.scheme->map(group.members, group.parities)), members_(group.members) {
  protection_.id = std::move(id);
  protection_.ranks = ranks;
  protection_.group = group.number;
  protection_.scheme = group.scheme->name;
  protection_.parities = group.parities;
  protection_.position = position;
}

base::Status Encoding::announced(unsigned position, std::vector<segment::Piece> pieces) {
  if (position >= members_.size())
    return base::fail(PERDURE_INVALID_ARGUMENT, id().text(),
                      "position " + std::to_string(position) + " is not in the group");
  if (members_[position]) {
    const auto& known = members_[position]->pieces;
    if (std::equal(known.begin(), known.end(), pieces.begin(), pieces.end(), same_shape)) return {};
    return base::fail(PERDURE_MISMATCH, id().text(),
                      "position " + std::to_string(position) + " announced something else before");
  }
  for (const auto& other : members_)
    for (const auto& piece : pieces)
      if (other && std::any_of(other->pieces.begin(), other->pieces.end(),
                               [&](const auto& known) { return known.rank == piece.rank; }))
        return base::fail(PERDURE_MISMATCH, id().text(),
                          "rank " + std::to_string(piece.rank) + " is at two positions of the group");
  redundancy::BlockOrder order(chunk_counts(pieces));
  Member member{std::move(pieces), std::move(order), {}, 0};
  member.places.resize(member.order.count());
  members_[position] = std::move(member);
  if (!all_announced()) return {};
  to_keep_ = count_to_keep();
  consider_all();
  return {};
}

base::Status Encoding::offered(unsigned position, const OfferedBlock& block) {
  if (position >= members_.size() || !members_[position] || block.number >= members_[position]->order.count())
    return base::fail(PERDURE_INVALID_ARGUMENT, id().text(),
                      "position " + std::to_string(position) + " has no block " + std::to_string(block.number));
  Member& member = *members_[position];
  const auto where = member.order.chunk(block.number);
  segment::ChunkEntry& chunk = member.pieces[where.rank].chunks[where.chunk];
  if (member.places[block.number]) {
    if (chunk.hash == block.hash) return {};
    return base::fail(
        PERDURE_MISMATCH, id().text(),
        "position " + std::to_string(position) + " offered another block " + std::to_string(block.number) + " before");
  }
  chunk.hash = block.hash;
  chunk.place = 0;
  chunk.offset = 0;
  member.places[block.number] = block.place;
  ++member.offered;
  if (all_announced()) consider({position, block.number});
  return {};
}

bool Encoding::all_announced() const {
  return std::all_of(members_.begin(), members_.end(), [](const auto& member) { return member.has_value(); });
}

bool Encoding::exists(Block block) const {
  return members_[block.position] && block.number < members_[block.position]->order.count();
}

std::optional<EncodingTask::Source> Encoding::source(Block block, redundancy::Symbol factor) const {
  const Member& member = *members_[block.position];
  const auto& place = member.places[block.number];
  if (!place) return std::nullopt;
  const auto where = member.order.chunk(block.number);
  const auto& chunk = member.pieces[where.rank].chunks[where.chunk];
  return EncodingTask::Source{block, factor, chunk.length, chunk.hash, *place};
}

void Encoding::consider(Block block) {
  for (const auto& kept : map_->kept_for(block))
    if (kept.position == protection_.position) consider_kept(kept);
}

// The block can be made when all its existing sources were offered.
void Encoding::consider_kept(const redundancy::Kept& kept) {
  EncodingTask task{{kept.stripe, kept.index}, 0, {}, {}};
  for (const auto& term : map_->recipe(kept)) {
    const Block block{term.item.position, term.item.number};
    if (!exists(block)) continue;
    auto from = source(block, term.factor);
    if (!from) return;
    task.length = std::max(task.length, from->length);
    task.sources.push_back(std::move(*from));
  }
  if (given_.insert(task.name).second) ready_.push_back(std::move(task));
}

// Looks at blocks that were offered before the last position announced.
void Encoding::consider_all() {
  for (unsigned position = 0; position < members_.size(); ++position)
    for (std::uint64_t number = 0; number < members_[position]->places.size(); ++number)
      if (members_[position]->places[number]) consider({position, number});
}

std::optional<EncodingTask> Encoding::next_task() {
  if (ready_.empty()) return std::nullopt;
  EncodingTask task = std::move(ready_.front());
  ready_.pop_front();
  return task;
}

std::uint64_t Encoding::count_to_keep() const {
  std::vector<redundancy::BlockOrder> orders;
  for (const auto& member : members_) orders.push_back(member->order);
  return blocks_to_keep(*map_, orders, protection_.position).size();
}

bool Encoding::complete() const {
  if (!all_announced()) return false;
  const bool all_offered = std::all_of(members_.begin(), members_.end(),
                                       [](const auto& member) { return member->offered == member->places.size(); });
  return all_offered && protection_.kept.size() == to_keep_;
}

std::vector<std::vector<EncodingTask::Source>> Encoding::blocks() const {
  std::vector<std::vector<EncodingTask::Source>> all(members_.size());
  for (unsigned position = 0; position < members_.size(); ++position)
    for (std::uint64_t number = 0; number < members_[position]->order.count(); ++number)
      if (auto block = source({position, number}, 1)) all[position].push_back(std::move(*block));
  return all;
}

catalog::RedundancySet Encoding::redundancy_set() const {
  catalog::RedundancySet whole = protection_;
  for (const auto& member : members_) whole.members.push_back(member->pieces);
  return whole;
}

bool Encoding::reached() const {
  if (group_.scheme->at_server) return keepers_.contains(group_.members);
  return keepers_.size() == group_.members;
}

}  // namespace perdure::engine
