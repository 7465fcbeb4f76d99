#include "mesh/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "automatic/follower.hpp"
#include "automatic/stored_set.hpp"
#include "mesh/divided.hpp"

namespace perdure::mesh {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw std::runtime_error("mesh: " + what + ": " + why);
}

Box moved(const Box& range, const Box& offsets) {
  Box box = range;
  for (unsigned d = 0; d < range.dimensions; ++d) {
    box.begin[d] += offsets.begin[d];
    box.end[d] += offsets.end[d] - 1;
  }
  return box;
}

// Returns whether a loop over `range` reads elements, at these offsets, that it writes at another index. The value read
// then depends on the order of indices, and so on ranks and threads.
bool reads_what_it_writes(const Box& range, const Box& offsets) {
  bool others = false;  // reads more than the element itself
  for (unsigned d = 0; d < range.dimensions; ++d) {
    const std::int64_t extent = range.end[d] - range.begin[d];
    const std::int64_t begin = std::max(offsets.begin[d], 1 - extent), end = std::min(offsets.end[d], extent);
    if (begin >= end) return false;  // all reads are outside of the range
    others = others || begin < 0 || end > 1;
  }
  return others;
}

std::string defect_of_order(const Box& range, std::span<const Use> uses) {
  for (const Use& writes : uses) {
    if (writes.mode == track::Access::Mode::read) continue;
    for (const Use& reads : uses) {
      if (reads.set != writes.set || reads.mode == track::Access::Mode::write) continue;
      for (const Box& offsets : *reads.stencil)
        if (reads_what_it_writes(range, offsets))
          return "it reads elements of data set '" + writes.set->name() +
                 "' that it writes at another index, so that its result depends on ranks and threads: write another "
                 "data set";
    }
  }
  return {};
}

// Returns why a loop cannot run as declared, or an empty text.
std::string defect_of(const Block& block, const Box& range, std::span<const Use> uses) {
  if (range.dimensions != block.dimensions()) return "its range has other dimensions than block '" + block.name + "'";
  if (range.empty()) return {};
  for (const Use& use : uses) {
    const Dataset& set = *use.set;
    const auto outside = [&](const char* does, const Box& box) {
      return std::string("it ") + does + " " + box.text() + " of data set '" + set.name() + "', which is " +
             set.whole().text();
    };
    if (&set.block() != &block) return "data set '" + set.name() + "' is on another block";
    if (use.mode != track::Access::Mode::read && !set.whole().contains(range)) return outside("writes", range);
    if (use.mode == track::Access::Mode::write) continue;
    for (const Box& offsets : *use.stencil)
      if (const Box box = moved(range, offsets); !set.whole().contains(box)) return outside("reads", box);
  }
  return defect_of_order(range, uses);
}

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

Mesh::Mesh(std::unique_ptr<Ranks> ranks, Options options)
    : ranks_(std::move(ranks)), options_(options), ghosts_(*ranks_), transfers_(*ranks_) {
  if (options_.threads < 1) refuse("threads", "there must be one at least");
  if (options_.check) options_.threads = 1;
#if !defined(_OPENMP)
  if (options_.threads > 1) refuse("threads", "this build has no OpenMP: take one, and more ranks");
#endif
}

Mesh::~Mesh() = default;

const Block& Mesh::block(std::string name, std::vector<std::int64_t> cells, std::int64_t widest_halo) {
  auto division = divided(cells, ranks_->size(), widest_halo);
  if (!division) refuse("block '" + name + "'", division.error());
  const Box part = division->part(ranks_->rank());
  blocks_.push_back(std::make_unique<Block>(Block{std::move(name), std::move(cells), *division, part}));
  return *blocks_.back();
}

void Mesh::add(std::unique_ptr<Dataset> set) {
  const std::string what = "data set '" + set->name() + "'";
  if (follower_) refuse(what, "it is declared behind protect(), where no restart could have it: declare it before");
  for (const auto& other : sets_)
    if (other->name() == set->name()) refuse(what, "there is one of that name");
  const Shape& shape = set->shape();
  if (const auto why = automatic::defect_of_texts(set->name(), shape.unit, shape.description); !why.empty())
    refuse(what, why);
  const Division& division = set->block().division;
  for (unsigned d = 0; d < division.dimensions(); ++d)
    if (division.grid()[d] > 1 && set->block().cells[d] / division.grid()[d] < set->shape().halo)
      refuse(what, "its halo is wider than some rank's part of block '" + set->block().name +
                       "': say so when the block is made");
  set->id = static_cast<track::SetId>(sets_.size());
  sets_.push_back(std::move(set));
}

void Mesh::follow(std::unique_ptr<Follower> follower) { follower_ = std::move(follower); }

std::size_t Mesh::SiteHash::operator()(const Site& site) const {
  const std::hash<const void*> hash;
  return hash(site.text) * 31 + hash(site.function) * 7 + hash(site.file);
}

track::LoopId Mesh::id_of(const LoopName& name) {
  const Site site{name.text, name.file, name.function};
  const auto known = ids_.find(site);
  if (known != ids_.end() && known->second.text == name.text) return known->second.id;
  constexpr std::size_t kMost = 100'000;  // bounds memory if a program makes a new text each time
  if (ids_.size() > kMost) ids_.clear();
  const std::string where = std::string(base_name(site.file)) + ":" + site.function;
  const track::LoopId id = track::loop_id(name.text, where);
  ids_[site] = {name.text, id};
  return id;
}

std::optional<Box> Mesh::begin_loop(const LoopName& name, const Block& block, const Box& range,
                                    std::span<const Use> uses) {
  if (const auto defect = defect_of(block, range, uses); !defect.empty())
    refuse(std::string("loop '") + name.text + "'", defect);
  if (follower_) {
    accesses_.clear();
    if (!range.empty())
      for (const Use& use : uses) {
        if (use.mode != track::Access::Mode::write)
          for (const Box& offsets : *use.stencil)
            accesses_.push_back(track::Access::reads(use.set->id, moved(range, offsets)));
        if (use.mode != track::Access::Mode::read) accesses_.push_back(track::Access::writes(use.set->id, range));
      }
    if (!follower_->loop(id_of(name), name.text, accesses_, open_reductions_ == 0)) return std::nullopt;
  }
  if (range.empty()) return std::nullopt;
  bring_ghosts(name, range, uses);
  const Box mine = intersection(range, block.part);
  return mine.empty() ? std::nullopt : std::optional(mine);
}

void Mesh::bring_ghosts(const LoopName& name, const Box& range, std::span<const Use> uses) {
  if (const Dataset* set = ghosts_.bring(range, uses))
    refuse(std::string("loop '") + name.text + "'",
           "it reads farther than the ghosts of data set '" + set->name() + "' reach, with this number of ranks");
  for (const Use& use : uses)
    if (use.mode != track::Access::Mode::read) use.set->ghosts_are_stale(range);
}

void Mesh::transfer(LoopName name, std::span<const Transfer> transfers) {
  if (const std::string defect = defect_of(transfers); !defect.empty())
    refuse(std::string("transfer '") + name.text + "'", defect);
  if (follower_) {
    accesses_.clear();
    for (const Transfer& one : transfers) {
      if (one.to_range.empty()) continue;
      accesses_.push_back(track::Access::reads(one.from->id, one.from_range()));
      accesses_.push_back(track::Access::writes(one.to->id, one.to_range));
    }
    if (!follower_->loop(id_of(name), name.text, accesses_, open_reductions_ == 0)) return;
  }
  transfers_.run(transfers);
}

void Mesh::collect(std::initializer_list<Reduction*> reductions) {
  if (reductions.size() == 0) return;
  values_.clear();
  if (!(follower_ && follower_->knows_answer())) {
    const Reduction::Kind kind = (*reductions.begin())->kind();
    digits_.clear();
    for (Reduction* reduction : reductions) {
      if (reduction->kind() != kind) refuse("collect()", "the reductions are of several kinds");
      values_.push_back(reduction->gathered());
      if (reduction->exact()) digits_.insert(digits_.end(), reduction->digits().begin(), reduction->digits().end());
    }
    // Zeros and NaNs have several bit patterns, so ranks could otherwise get different ones.
    for (double& value : values_) value = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0;
    // The wish for a checkpoint travels with an exchange that happens anyway.
    const bool wanted = follower_ && follower_->wants_checkpoint();
    values_.push_back(wanted ? (kind == Reduction::Kind::least ? -1 : 1) : 0);
    ranks_->combine(values_, kind == Reduction::Kind::sum     ? Ranks::Combine::sum
                             : kind == Reduction::Kind::least ? Ranks::Combine::least
                                                              : Ranks::Combine::most);
    if (!digits_.empty()) ranks_->combine(digits_);
    auto digits = digits_.begin();
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      Reduction& reduction = **(reductions.begin() + i);
      if (!reduction.exact()) continue;
      const auto own = reduction.digits();
      std::copy_n(digits, own.size(), own.begin());
      digits += static_cast<std::ptrdiff_t>(own.size());
      values_[i] = reduction.exact_value();
    }
    if (follower_ && values_.back() != 0) follower_->checkpoint_is_wanted();
    values_.pop_back();
  } else {
    values_.resize(reductions.size());
  }
  if (follower_) follower_->answer(std::as_writable_bytes(std::span(values_)));
  for (std::size_t i = 0; i < reductions.size(); ++i) (*(reductions.begin() + i))->set(values_[i]);
}

bool Mesh::look(LoopName name, const Box& range, std::initializer_list<const Dataset*> sets) {
  std::vector<Part> parts;
  for (const Dataset* set : sets) parts.push_back({set, range});
  return look(name, parts);
}

bool Mesh::look(LoopName name, std::span<const Part> parts) {
  if (!follower_) return true;
  accesses_.clear();
  for (const Part& part : parts)
    if (const Box box = intersection(part.range, part.set->whole()); !box.empty())
      accesses_.push_back(track::Access::reads(part.set->id, box));
  return follower_->loop(id_of(name), name.text, accesses_, open_reductions_ == 0);
}

void Mesh::tick() {
  if (!follower_ || follower_->knows_answer()) return;
  double wanted = follower_->wants_checkpoint() ? 1 : 0;
  ranks_->combine(std::span(&wanted, 1), Ranks::Combine::most);
  if (wanted != 0) follower_->checkpoint_is_wanted();
}

}  // namespace perdure::mesh
