// Keeps no redundancy beyond the node: its checkpoints outlive processes, and a node through the store only.
#include "redundancy/registry.hpp"

namespace perdure::redundancy {
namespace {

unsigned no_losses(unsigned, unsigned) { return 0; }
double no_bytes(unsigned, unsigned) { return 0; }
bool nothing_lost(unsigned, unsigned, const Positions& lost) { return lost.none(); }

Restoration restore_in_place(const GroupState& state, Block block) {
  return {.how = state.has_data(block) ? Restoration::How::in_place : Restoration::How::only_there,
          .position = block.position};
}

std::shared_ptr<const BlockMap> no_map(unsigned, unsigned) { return nothing_kept(); }

}  // namespace

Scheme single() {
  return {.name = "single",
          .summary = "nothing beyond the node",
          .when = When::never,
          .at_server = false,
          .rereads = false,
          .min_size = 1,
          .max_size = kMaxItems,
          .min_parities = 0,
          .max_parities = 0,
          .losses = no_losses,
          .kept_per_byte = no_bytes,
          .survives = nothing_lost,
          .restore = restore_in_place,
          .map = no_map};
}

}  // namespace perdure::redundancy
