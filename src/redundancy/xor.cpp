// Distributes one parity per stripe over the group: keeps 1/(n-1) of each node's data, and survives one loss.
#include "redundancy/parity.hpp"
#include "redundancy/registry.hpp"

namespace perdure::redundancy {

Scheme exclusive_or_parity() {
  return {.name = "xor",
          .summary = "the exclusive or of the group's data, distributed over its nodes",
          .when = When::while_captured,
          .at_server = false,
          .rereads = false,
          .min_size = 2,
          .max_size = kMaxItems,
          .min_parities = 1,
          .max_parities = 1,
          .losses = parity_losses,
          .kept_per_byte = parity_bytes,
          .survives = parity_survives,
          .restore = restore_distributed,
          .map = distributed_map};
}

}  // namespace perdure::redundancy
