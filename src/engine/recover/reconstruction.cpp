#include "engine/recover/reconstruction.hpp"

#include "engine/ledger/redundancy_share.hpp"
#include "redundancy/registry.hpp"

namespace perdure::engine {

using redundancy::Block;
using redundancy::Item;
using redundancy::Restoration;
using Source = EncodingTask::Source;

/// One group of one epoch, as the exported parts describe it.
class Reconstruction::Group {
 public:
  Group(const Reconstruction& all, const catalog::RedundancySet& model) : all_(all), model_(model) {
    if (auto scheme = redundancy::find_scheme(model.scheme)) scheme_ = *scheme;
    orders_ = block_orders(model.members);
    const auto n = static_cast<unsigned>(orders_.size());
    if (scheme_ == nullptr) return;
    map_ = scheme_->map(n, model.parities);
    for (unsigned p = 0; p < redundancy::positions(*scheme_, n); ++p)
      kept_.push_back(blocks_to_keep(*map_, orders_, p));
  }

  bool is_of(const catalog::RedundancySet& other) const {
    return other.id == model_.id && other.group == model_.group && other.scheme == model_.scheme &&
           other.parities == model_.parities && other.members.size() == model_.members.size();
  }
  void add(unsigned holder, const ExportedPieces::Part& part) {
    parts_[part.redundancy_set.position] = {holder, &part};
  }
  void forget_state() { state_.reset(); }
  const segment::Piece* piece(std::uint32_t rank) const {
    const auto at = find(rank);
    return at ? &model_.members[at->first][at->second] : nullptr;
  }
  /// Returns the task, or why there is none.
  base::Result<ReconstructionTask> task(std::uint32_t rank, std::uint32_t chunk) const;

 private:
  std::optional<std::pair<unsigned, std::uint32_t>> find(std::uint32_t rank) const {
    for (unsigned p = 0; p < model_.members.size(); ++p)
      for (std::uint32_t i = 0; i < model_.members[p].size(); ++i)
        if (model_.members[p][i].rank == rank) return std::pair{p, i};
    return std::nullopt;
  }
  std::optional<Source> data(Block block, redundancy::Symbol factor) const {
    const auto where = orders_[block.position].chunk(block.number);
    const auto& piece = model_.members[block.position][where.rank];
    auto source = all_.in_place(piece.rank, static_cast<std::uint32_t>(where.chunk), factor);
    // The present content must equal the encoded one.
    const auto& encoded = piece.chunks[where.chunk];
    if (!source || source->hash != encoded.hash || source->length != encoded.length) return std::nullopt;
    source->block = block;
    return source;
  }
  std::optional<Source> kept(unsigned position, const catalog::BlockName& name, redundancy::Symbol factor) const {
    const auto part = parts_.find(position);
    if (part == parts_.end()) return std::nullopt;
    const auto& [holder, exported] = part->second;
    const auto place = exported->places.find(name);
    const auto chunk = exported->redundancy_set.kept.find(name);
    if (place == exported->places.end() || chunk == exported->redundancy_set.kept.end()) return std::nullopt;
    if (!all_.usable(holder, place->second)) return std::nullopt;
    return Source{{position, name.stripe}, factor, chunk->second.length, chunk->second.hash, place->second, holder};
  }
  const redundancy::GroupState& state() const;
  std::optional<Source> source(const redundancy::Term& term) const {
    if (term.item.kind == Item::Kind::data) return data({term.item.position, term.item.number}, term.factor);
    const auto name = kept_[term.item.position].find(term.item.number);
    if (name == kept_[term.item.position].end()) return std::nullopt;
    return kept(term.item.position, name->second, term.factor);
  }
  ReconstructionTask finished(ReconstructionTask task, Block block) const {
    const auto where = orders_[block.position].chunk(block.number);
    const auto& chunk = model_.members[block.position][where.rank].chunks[where.chunk];
    task.task.length = chunk.length;
    task.task.hash = chunk.hash;
    task.rebuilt = true;
    task.block = block;
    return task;
  }

  const Reconstruction& all_;
  const catalog::RedundancySet& model_;
  const redundancy::Scheme* scheme_ = nullptr;
  std::vector<redundancy::BlockOrder> orders_;
  std::shared_ptr<const redundancy::BlockMap> map_;
  std::vector<std::map<std::uint64_t, catalog::BlockName>> kept_;  // by position: the blocks that it has to keep
  std::map<unsigned, std::pair<unsigned, const ExportedPieces::Part*>> parts_;  // by position: holder, part
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
      if (!data({p, number}, 1)) state.damaged.insert({Item::Kind::data, p, number});
  }
  for (unsigned p = 0; p < kept_.size(); ++p)
    for (const auto& [number, name] : kept_[p])
      if (!kept(p, name, 1)) state.damaged.insert({Item::Kind::kept, p, number});
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
  const auto lost = base::fail(PERDURE_CORRUPT, object, "it " + redundancy::restoration_text(restoration));
  if (!redundancy::restorable(restoration)) return lost;
  const auto terms = map_->rebuild(state(), block);
  if (!terms) return lost;
  ReconstructionTask made;
  for (const auto& term : *terms) {
    auto from = source(term);
    if (!from) return lost;
    made.task.sources.push_back(std::move(*from));
  }
  return finished(std::move(made), block);
}

Reconstruction::Reconstruction(const std::vector<ExportedPieces>& exported) : exported_(exported) {
  for (unsigned holder = 0; holder < exported.size(); ++holder)
    for (const auto& piece : exported[holder].pieces) pieces_.emplace(piece.piece.rank, std::pair{holder, &piece});
  make_groups();
}

Reconstruction::~Reconstruction() = default;

void Reconstruction::make_groups() {
  for (unsigned holder = 0; holder < exported_.size(); ++holder)
    for (const auto& part : exported_[holder].parts) {
      Group* group = nullptr;
      for (const auto& known : groups_)
        if (known->is_of(part.redundancy_set)) group = known.get();
      if (group == nullptr) {
        groups_.push_back(std::make_unique<Group>(*this, part.redundancy_set));
        group = groups_.back().get();
      }
      group->add(holder, part);
    }
}

bool Reconstruction::usable(unsigned holder, const BlockPlace& place) const {
  return !gone_.contains(holder) && !damaged_.contains({holder, place});
}

std::optional<Source> Reconstruction::in_place(std::uint32_t rank, std::uint32_t chunk,
                                               redundancy::Symbol factor) const {
  const auto [first, last] = pieces_.equal_range(rank);
  for (auto it = first; it != last; ++it) {
    const auto& [holder, exported] = it->second;
    if (chunk >= exported->places.size() || !exported->places[chunk] || !usable(holder, *exported->places[chunk]))
      continue;
    const auto& entry = exported->piece.chunks[chunk];
    return Source{{}, factor, entry.length, entry.hash, *exported->places[chunk], holder};
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
  if (auto source = in_place(rank, chunk, 1)) {
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
