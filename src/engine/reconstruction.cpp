#include "engine/reconstruction.hpp"

#include "engine/kept_part.hpp"
#include "redundancy/copies.hpp"
#include "redundancy/registry.hpp"

namespace perdure::engine {

using redundancy::Block;
using redundancy::Item;
using redundancy::Restoration;
using Source = EncodingTask::Source;

/// One group of one epoch, as the parts that are lent say.
class Reconstruction::Group {
 public:
  Group(const Reconstruction& all, const catalog::Protection& model) : all_(all), model_(model) {
    if (auto scheme = redundancy::find_scheme(model.scheme)) scheme_ = *scheme;
    orders_ = block_orders(model.members);
    const auto n = static_cast<unsigned>(orders_.size());
    if (scheme_ != nullptr && scheme_->method == redundancy::Method::server) {
      stripes_.emplace(redundancy::Stripes::at_server(n));
      auto code = redundancy::Code::make(n, 1);
      if (code) code_ = std::make_shared<const redundancy::Code>(std::move(*code));
    }
    if (scheme_ != nullptr && scheme_->method == redundancy::Method::parity && model.parities > 0 &&
        model.parities < n) {
      stripes_.emplace(n, model.parities);
      auto code = redundancy::Code::make(stripes_->k(), stripes_->m());
      if (code) code_ = std::make_shared<const redundancy::Code>(std::move(*code));
    }
  }

  bool is_of(const catalog::Protection& other) const {
    return other.id == model_.id && other.group == model_.group && other.scheme == model_.scheme &&
           other.parities == model_.parities && other.members.size() == model_.members.size();
  }
  void add(unsigned holder, const Loan::Part& part) { parts_[part.protection.position] = {holder, &part}; }
  void forget_state() { state_.reset(); }
  const segment::Piece* piece(std::uint32_t rank) const {
    const auto at = find(rank);
    return at ? &model_.members[at->first][at->second] : nullptr;
  }
  /// The task, or why not.
  base::Result<ReconstructionTask> task(std::uint32_t rank, std::uint32_t chunk) const;

 private:
  std::optional<std::pair<unsigned, std::uint32_t>> find(std::uint32_t rank) const {
    for (unsigned p = 0; p < model_.members.size(); ++p)
      for (std::uint32_t i = 0; i < model_.members[p].size(); ++i)
        if (model_.members[p][i].rank == rank) return std::pair{p, i};
    return std::nullopt;
  }
  std::optional<Source> data(Block block, unsigned item) const {
    const auto where = orders_[block.position].chunk(block.number);
    const auto& piece = model_.members[block.position][where.rank];
    auto source = all_.in_place(piece.rank, static_cast<std::uint32_t>(where.chunk), item);
    // What is there now must be what was encoded.
    const auto& encoded = piece.chunks[where.chunk];
    if (!source || source->hash != encoded.hash || source->length != encoded.length) return std::nullopt;
    source->block = block;
    return source;
  }
  std::optional<Source> kept(unsigned position, const catalog::BlockName& name, unsigned item) const {
    const auto part = parts_.find(position);
    if (part == parts_.end()) return std::nullopt;
    const auto& [holder, lent] = part->second;
    const auto place = lent->places.find(name);
    const auto chunk = lent->protection.kept.find(name);
    if (place == lent->places.end() || chunk == lent->protection.kept.end()) return std::nullopt;
    if (!all_.usable(holder, place->second)) return std::nullopt;
    return Source{{position, name.stripe}, item, chunk->second.length, chunk->second.hash, place->second, holder};
  }
  const redundancy::GroupState& state() const;
  base::Result<ReconstructionTask> decode(std::uint64_t stripe, Block wanted) const;
  ReconstructionTask finished(ReconstructionTask task, Block block) const {
    const auto where = orders_[block.position].chunk(block.number);
    const auto& chunk = model_.members[block.position][where.rank].chunks[where.chunk];
    task.task.length = chunk.length;
    task.task.hash = chunk.hash;
    task.rebuilt = true;
    return task;
  }

  const Reconstruction& all_;
  const catalog::Protection& model_;
  const redundancy::Scheme* scheme_ = nullptr;
  std::vector<redundancy::BlockOrder> orders_;
  std::optional<redundancy::Stripes> stripes_;
  std::shared_ptr<const redundancy::Code> code_;
  std::map<unsigned, std::pair<unsigned, const Loan::Part*>> parts_;  // by position: holder, part
  mutable std::optional<redundancy::GroupState> state_;
};

const redundancy::GroupState& Reconstruction::Group::state() const {
  if (state_) return *state_;
  redundancy::GroupState state;
  state.n = static_cast<unsigned>(orders_.size());
  state.m = model_.parities;
  for (const auto& order : orders_) state.blocks.push_back(order.count());
  for (unsigned p = 0; p < state.n; ++p) {
    for (std::uint64_t number = 0; number < orders_[p].count(); ++number)
      if (!data({p, number}, 0)) state.damaged.insert({Item::Kind::data, p, number});
  }
  const bool served = scheme_ != nullptr && scheme_->method == redundancy::Method::server;
  for (unsigned p = 0; p < state.n + (served ? 1 : 0); ++p)
    for (const auto& [number, name] : blocks_to_keep(model_, p))
      if (!kept(p, name, 0)) state.damaged.insert({Item::Kind::kept, p, number});
  state_ = std::move(state);
  return *state_;
}

base::Result<ReconstructionTask> Reconstruction::Group::task(std::uint32_t rank, std::uint32_t chunk) const {
  const auto at = find(rank);
  const std::string object = "rank " + std::to_string(rank) + ", chunk " + std::to_string(chunk);
  if (scheme_ == nullptr || !at || chunk >= model_.members[at->first][at->second].chunks.size())
    return base::fail(PERDURE_CORRUPT, object, "its redundancy is of an unknown scheme");
  const Block block{at->first, orders_[at->first].block({at->second, chunk})};
  const Restoration restoration = scheme_->restore(state(), block);
  if (restoration.how == Restoration::How::decode && code_) return decode(restoration.stripe, block);
  if (restoration.how == Restoration::How::copy) {
    if (auto source = kept(restoration.position, {block.number, block.position}, 0)) {
      ReconstructionTask made;
      made.task.sources.push_back(std::move(*source));
      return finished(std::move(made), block);
    }
  }
  return base::fail(PERDURE_CORRUPT, object, "it " + redundancy::restoration_text(restoration));
}

// Out of the fewest sources that do.
base::Result<ReconstructionTask> Reconstruction::Group::decode(std::uint64_t stripe, Block wanted) const {
  std::map<unsigned, Source> there;
  redundancy::Items known;
  for (unsigned item = 0; item < stripes_->k() + stripes_->m(); ++item) {
    std::optional<Source> source;
    if (item < stripes_->k()) {
      const Block block = stripes_->block({stripe, item});
      if (block.number >= orders_[block.position].count())
        known.set(item);  // empty
      else
        source = data(block, item);
    } else {
      const unsigned j = item - stripes_->k();
      source = kept(stripes_->parity_position(stripe, j), {stripe, j}, item);
    }
    if (!source) continue;
    known.set(item);
    there.emplace(item, std::move(*source));
  }
  ReconstructionTask made;
  made.code = code_;
  made.task.name = {stripe, 0};
  made.task.wanted = stripes_->place(wanted).index;
  PERDURE_TRY(const auto recovery, code_->recovery(known, std::span(&made.task.wanted, 1)));
  for (const unsigned item : recovery.sources) {
    made.task.known.set(item);
    if (const auto source = there.find(item); source != there.end()) made.task.sources.push_back(source->second);
  }
  return finished(std::move(made), wanted);
}

Reconstruction::Reconstruction(const std::vector<Loan>& loans) : loans_(loans) {
  for (unsigned holder = 0; holder < loans.size(); ++holder)
    for (const auto& piece : loans[holder].pieces) pieces_.emplace(piece.piece.rank, std::pair{holder, &piece});
  make_groups();
}

Reconstruction::~Reconstruction() = default;

void Reconstruction::make_groups() {
  for (unsigned holder = 0; holder < loans_.size(); ++holder)
    for (const auto& part : loans_[holder].parts) {
      Group* group = nullptr;
      for (const auto& known : groups_)
        if (known->is_of(part.protection)) group = known.get();
      if (group == nullptr) {
        groups_.push_back(std::make_unique<Group>(*this, part.protection));
        group = groups_.back().get();
      }
      group->add(holder, part);
    }
}

bool Reconstruction::usable(unsigned holder, const BlockPlace& place) const {
  return !gone_.contains(holder) && !damaged_.contains({holder, place});
}

std::optional<Source> Reconstruction::in_place(std::uint32_t rank, std::uint32_t chunk, unsigned item) const {
  const auto [first, last] = pieces_.equal_range(rank);
  for (auto it = first; it != last; ++it) {
    const auto& [holder, lent] = it->second;
    if (chunk >= lent->places.size() || !lent->places[chunk] || !usable(holder, *lent->places[chunk])) continue;
    const auto& entry = lent->piece.chunks[chunk];
    return Source{{}, item, entry.length, entry.hash, *lent->places[chunk], holder};
  }
  return std::nullopt;
}

base::Result<segment::Piece> Reconstruction::piece(std::uint32_t rank) const {
  if (const auto it = pieces_.find(rank); it != pieces_.end()) return it->second.second->piece;
  for (const auto& group : groups_)
    if (const auto* piece = group->piece(rank)) return *piece;
  return base::fail(PERDURE_NOT_FOUND, "rank " + std::to_string(rank), "no node has anything of it");
}

base::Result<ReconstructionTask> Reconstruction::task(std::uint32_t rank, std::uint32_t chunk) const {
  if (auto source = in_place(rank, chunk, 0)) {
    ReconstructionTask made;
    made.task.length = source->length;
    made.task.hash = source->hash;
    made.task.sources.push_back(std::move(*source));
    return made;
  }
  base::Error why{PERDURE_CORRUPT, "rank " + std::to_string(rank), "no node keeps anything for it", {}, false};
  for (const auto& group : groups_) {
    if (group->piece(rank) == nullptr) continue;
    auto made = group->task(rank, chunk);
    if (made) return made;
    why = made.error();
  }
  return base::fail(why);
}

void Reconstruction::changed() {
  for (const auto& group : groups_) group->forget_state();
}

void Reconstruction::damaged(const Source& source) {
  damaged_.insert({source.holder, source.place});
  changed();
}

void Reconstruction::gone(unsigned holder) {
  gone_.insert(holder);
  changed();
}

}  // namespace perdure::engine
