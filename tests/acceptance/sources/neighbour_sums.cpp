// Implements the scheme that the acceptance test of the layout adds. Position p keeps, block by block, the exclusive or
// of the two positions before it. That is neither a copy nor a stripe of a code; lost blocks are recovered sum by sum.
#include <algorithm>
#include <optional>
#include <set>

#include "redundancy/registry.hpp"

namespace perdure::redundancy {
namespace {

class NeighbourSums final : public BlockMap {
 public:
  explicit NeighbourSums(unsigned n) : n_(n) {}

  std::vector<Kept> kept(unsigned position, std::span<const std::uint64_t> blocks) const override {
    std::vector<Kept> all;
    if (position >= n_) return all;
    const std::uint64_t count = std::max(blocks[before(position, 1)], blocks[before(position, 2)]);
    for (std::uint64_t number = 0; number < count; ++number) all.push_back({position, number, number, position});
    return all;
  }
  std::vector<Kept> kept_for(Block block) const override {
    std::vector<Kept> all;
    for (const unsigned distance : {1U, 2U}) {
      const unsigned position = (block.position + distance) % n_;
      all.push_back({position, block.number, block.number, position});
    }
    return all;
  }
  std::vector<Term> recipe(const Kept& kept) const override {
    std::vector<Term> terms;
    for (const unsigned distance : {1U, 2U})
      terms.push_back({{Item::Kind::data, before(kept.position, distance), kept.number}, 1});
    return terms;
  }
  // If a surviving sum has one unknown term, that term follows from it. Repeats this until no term follows any more.
  base::Result<std::vector<Term>> rebuild(const GroupState& state, Block block) const override {
    std::vector<std::optional<std::set<Item>>> known(n_);  // by position: the terms whose sum is its block
    for (unsigned p = 0; p < n_; ++p) {
      const bool empty = block.number >= state.blocks[p];
      if (empty)
        known[p].emplace();
      else if (state.has_data({p, block.number}) && p != block.position)
        known[p] = {{Item::Kind::data, p, block.number}};
    }
    for (bool found = true; found && !known[block.position];) {
      found = false;
      for (unsigned p = 0; p < n_; ++p) {
        const unsigned one = before(p, 1), two = before(p, 2);
        if (!state.has_kept(p, block.number) || known[one].has_value() == known[two].has_value()) continue;
        std::set<Item> sum = known[one] ? *known[one] : *known[two];
        if (!sum.insert({Item::Kind::kept, p, block.number}).second) continue;
        (known[one] ? known[two] : known[one]) = std::move(sum);
        found = true;
      }
    }
    if (!known[block.position])
      return base::fail(PERDURE_NOT_FOUND, "block " + std::to_string(block.number), "no sum that is left gives it");
    std::vector<Term> terms;
    for (const Item& item : *known[block.position]) terms.push_back({item, 1});
    return terms;
  }

 private:
  unsigned before(unsigned position, unsigned distance) const { return (position + n_ - distance) % n_; }
  unsigned n_;
};

std::shared_ptr<const BlockMap> neighbour_map(unsigned n, unsigned) {
  if (n < 3 || n > kMaxItems) return nothing_kept();
  return std::make_shared<NeighbourSums>(n);
}

unsigned neighbour_losses(unsigned, unsigned) { return 1; }
double neighbour_bytes(unsigned, unsigned) { return 1; }

Restoration restore_from_neighbours(const GroupState& state, Block block) {
  if (state.has_data(block)) return {.how = Restoration::How::in_place, .position = block.position};
  const bool found = NeighbourSums(state.n).rebuild(state, block).has_value();
  return {.how = found ? Restoration::How::decode : Restoration::How::stripe_gone,
          .position = block.position,
          .stripe = block.number,
          .missing = static_cast<unsigned>(state.lost.count()),
          .parities = 1};
}

bool neighbours_survive(unsigned n, unsigned m, const Positions& lost) {
  const GroupState state{.n = n, .m = m, .blocks = std::vector<std::uint64_t>(n, 1), .lost = lost, .damaged = {}};
  for (unsigned p = 0; p < n; ++p)
    if (!restorable(restore_from_neighbours(state, {p, 0}))) return false;
  return true;
}

}  // namespace

Scheme neighbour_sums() {
  return {.name = "neighbour-sums",
          .summary = "the exclusive or of the two nodes before, on each node of the group",
          .when = When::while_captured,
          .at_server = false,
          .rereads = false,
          .min_size = 3,
          .max_size = kMaxItems,
          .min_parities = 1,
          .max_parities = 1,
          .losses = neighbour_losses,
          .kept_per_byte = neighbour_bytes,
          .survives = neighbours_survive,
          .restore = restore_from_neighbours,
          .map = neighbour_map};
}

}  // namespace perdure::redundancy
