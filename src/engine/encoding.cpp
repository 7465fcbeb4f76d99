#include "engine/encoding.hpp"

#include <algorithm>

#include "engine/kept_part.hpp"
#include "redundancy/copies.hpp"

namespace perdure::engine {
namespace {

using redundancy::Block;
using redundancy::Method;

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

Encoding::Encoding(catalog::ProtectionId id, GroupScheme group, unsigned position, std::uint32_t ranks)
    : group_(group), members_(group.members) {
  protection_.id = std::move(id);
  protection_.ranks = ranks;
  protection_.group = group.number;
  protection_.scheme = group.scheme->name;
  protection_.parities = group.parities;
  protection_.position = position;
}

redundancy::Stripes Encoding::stripes() const {
  return group_.scheme->method == Method::server ? redundancy::Stripes::at_server(group_.members)
                                                 : redundancy::Stripes(group_.members, group_.parities);
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

std::optional<EncodingTask::Source> Encoding::source(Block block, unsigned item) const {
  const Member& member = *members_[block.position];
  const auto& place = member.places[block.number];
  if (!place) return std::nullopt;
  const auto where = member.order.chunk(block.number);
  const auto& chunk = member.pieces[where.rank].chunks[where.chunk];
  return EncodingTask::Source{block, item, chunk.length, chunk.hash, *place};
}

void Encoding::consider(Block block) {
  const Method method = group_.scheme->method;
  if (method == Method::parity || method == Method::server) return consider_stripe(stripes().place(block).stripe);
  if (method != Method::copy || redundancy::copy_position(group_.members, block.position) != protection_.position)
    return;
  const catalog::BlockName name{block.number, block.position};
  auto from = source(block, 0);
  if (!from || !given_.insert(name).second) return;
  ready_.push_back({name, from->length, 0, {}, {std::move(*from)}, {}});
}

// A stripe is ready when every block of it that exists was offered.
void Encoding::consider_stripe(std::uint64_t stripe) {
  const auto map = stripes();
  for (unsigned j = 0; j < map.m(); ++j) {
    if (map.parity_position(stripe, j) != protection_.position) continue;
    EncodingTask task{{stripe, j}, 0, map.k() + j, {}, {}, {}};
    for (unsigned item = 0; item < map.k(); ++item) {
      task.known.set(item);
      const Block block = map.block({stripe, item});
      if (!exists(block)) continue;
      auto from = source(block, item);
      if (!from) return;
      task.length = std::max(task.length, from->length);
      task.sources.push_back(std::move(*from));
    }
    if (given_.insert(task.name).second) ready_.push_back(std::move(task));
  }
}

// What was offered before the last position announced.
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
  return blocks_to_keep(*group_.scheme, group_.parities, orders, protection_.position).size();
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
      if (auto block = source({position, number}, position)) all[position].push_back(std::move(*block));
  return all;
}

catalog::Protection Encoding::protection() const {
  catalog::Protection whole = protection_;
  for (const auto& member : members_) whole.members.push_back(member->pieces);
  return whole;
}

bool Encoding::reached() const {
  if (group_.scheme->method == Method::server) return keepers_.contains(group_.members);
  return keepers_.size() == group_.members;
}

}  // namespace perdure::engine
