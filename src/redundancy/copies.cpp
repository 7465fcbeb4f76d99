// The schemes that keep a copy of everything on the next node of the group.
#include "redundancy/registry.hpp"

namespace perdure::redundancy {
namespace {

// Returns the position that keeps the copies of a position's blocks.
unsigned copy_position(unsigned n, unsigned position) { return (position + 1) % n; }

// A copy has the number of its block, and is named (number, position of the block).
class CopyMap final : public BlockMap {
 public:
  explicit CopyMap(unsigned n) : n_(n) {}
  std::vector<Kept> kept(unsigned position, std::span<const std::uint64_t> blocks) const override {
    std::vector<Kept> all;
    if (position >= n_) return all;
    const unsigned source = (position + n_ - 1) % n_;
    for (std::uint64_t number = 0; number < blocks[source]; ++number) all.push_back(copy_of({source, number}));
    return all;
  }
  std::vector<Kept> kept_for(Block block) const override { return {copy_of(block)}; }
  std::vector<Term> recipe(const Kept& kept) const override {
    return {{{Item::Kind::data, kept.index, kept.stripe}, 1}};
  }
  base::Result<std::vector<Term>> rebuild(const GroupState& state, Block block) const override {
    const Kept copy = copy_of(block);
    if (state.has_kept(copy.position, copy.number))
      return std::vector<Term>{{{Item::Kind::kept, copy.position, copy.number}, 1}};
    return base::fail(PERDURE_NOT_FOUND, "block " + std::to_string(block.number), "its copy is gone, too");
  }

 private:
  Kept copy_of(Block block) const {
    return {copy_position(n_, block.position), block.number, block.number, block.position};
  }
  unsigned n_;
};

unsigned copy_losses(unsigned, unsigned) { return 1; }

double copy_bytes(unsigned, unsigned) { return 1; }

bool copies_survive(unsigned n, unsigned, const Positions& lost) {
  for (unsigned p = 0; p < n; ++p)
    if (lost[p] && lost[copy_position(n, p)]) return false;
  return true;
}

std::shared_ptr<const BlockMap> copy_map(unsigned n, unsigned) {
  if (n < 2) return nothing_kept();
  return std::make_shared<CopyMap>(n);
}

Restoration restore_copy(const GroupState& state, Block block) {
  if (state.has_data(block)) return {.how = Restoration::How::in_place, .position = block.position};
  const unsigned keeper = copy_position(state.n, block.position);
  return {.how = state.has_kept(keeper, block.number) ? Restoration::How::copy : Restoration::How::copy_gone,
          .position = keeper};
}

}  // namespace

// Sends every chunk while the capture runs, straight from its slot.
Scheme buddy() {
  return {.name = "buddy",
          .summary = "a copy on the next node of the group, made while the data is captured",
          .when = When::while_captured,
          .at_server = false,
          .rereads = false,
          .min_size = 2,
          .max_size = kMaxItems,
          .min_parities = 1,
          .max_parities = 1,
          .losses = copy_losses,
          .kept_per_byte = copy_bytes,
          .survives = copies_survive,
          .restore = restore_copy,
          .map = copy_map};
}

// Reads the local tier again after the capture and sends that: the classic way, for comparison.
Scheme partner() {
  Scheme scheme = buddy();
  scheme.name = "partner";
  scheme.summary = "a copy on the next node of the group, read again and sent after the capture";
  scheme.when = When::after_capture;
  scheme.rereads = true;
  return scheme;
}

}  // namespace perdure::redundancy
