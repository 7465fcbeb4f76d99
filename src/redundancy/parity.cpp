#include "redundancy/parity.hpp"

namespace perdure::redundancy {

unsigned missing_items(const Stripes& stripes, const GroupState& state, std::uint64_t stripe) {
  unsigned missing = 0;
  for (unsigned i = 0; i < stripes.k(); ++i) {
    const Block block = stripes.block({stripe, i});
    if (block.number < state.blocks[block.position] && !state.has_data(block)) ++missing;
  }
  for (unsigned j = 0; j < stripes.m(); ++j)
    if (!state.has_kept(stripes.parity_position(stripe, j), stripe)) ++missing;
  return missing;
}

Restoration restore_from_stripe(const Stripes& stripes, const GroupState& state, Block block) {
  if (state.has_data(block)) return {.how = Restoration::How::in_place, .position = block.position};
  const std::uint64_t stripe = stripes.place(block).stripe;
  const unsigned missing = missing_items(stripes, state, stripe);
  return {.how = missing <= stripes.m() ? Restoration::How::decode : Restoration::How::stripe_gone,
          .position = block.position,
          .stripe = stripe,
          .missing = missing,
          .parities = stripes.m()};
}

double parity_bytes(unsigned n, unsigned m) { return static_cast<double>(m) / (n - m); }

unsigned parity_losses(unsigned, unsigned m) { return m; }

bool parity_survives(unsigned, unsigned m, const Positions& lost) { return lost.count() <= m; }

Restoration restore_distributed(const GroupState& state, Block block) {
  return restore_from_stripe(Stripes(state.n, state.m), state, block);
}

}  // namespace perdure::redundancy
