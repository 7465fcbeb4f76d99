#include "redundancy/copies.hpp"

namespace perdure::redundancy {

unsigned copy_losses(unsigned, unsigned) { return 1; }

double copy_bytes(unsigned, unsigned) { return 1; }

bool copies_survive(unsigned n, unsigned, const Positions& lost) {
  for (unsigned p = 0; p < n; ++p)
    if (lost[p] && lost[copy_position(n, p)]) return false;
  return true;
}

Restoration restore_copy(const GroupState& state, Block block) {
  if (state.has_data(block)) return {.how = Restoration::How::in_place, .position = block.position};
  const unsigned keeper = copy_position(state.n, block.position);
  return {.how = state.has_kept(keeper, block.number) ? Restoration::How::copy : Restoration::How::copy_gone,
          .position = keeper};
}

}  // namespace perdure::redundancy
