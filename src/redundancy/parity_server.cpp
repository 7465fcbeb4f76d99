// Keeps the group's parity on a server, which pulls the nodes' slots and keeps as much as the largest member has. The
// members keep and compute no redundancy. A member that is alone has a copy there.
#include "redundancy/parity.hpp"
#include "redundancy/registry.hpp"

namespace perdure::redundancy {
namespace {

unsigned one_loss(unsigned, unsigned) { return 1; }
double no_bytes_at_members(unsigned, unsigned) { return 0; }

// Survives the loss of one member, or of the server. Without the server nothing is rebuilt, but all members are there.
bool member_or_server(unsigned, unsigned, const Positions& lost) { return lost.count() <= 1; }

Restoration restore_with_server(const GroupState& state, Block block) {
  return restore_from_stripe(Stripes::at_server(state.n), state, block);
}

}  // namespace

Scheme parity_server() {
  return {.name = "parity-server",
          .summary = "the exclusive or of the group's data, on a server that reads it from the nodes",
          .when = When::while_captured,
          .at_server = true,
          .rereads = false,
          .min_size = 1,
          .max_size = kMaxItems - 1,
          .min_parities = 1,
          .max_parities = 1,
          .losses = one_loss,
          .kept_per_byte = no_bytes_at_members,
          .survives = member_or_server,
          .restore = restore_with_server,
          .map = server_map};
}

}  // namespace perdure::redundancy
