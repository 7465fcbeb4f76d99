// Distributes m parities per stripe over the group: any m losses are survived. With m = 1 it is xor, byte for byte.
#include "redundancy/parity.hpp"
#include "redundancy/registry.hpp"

namespace perdure::redundancy {

Scheme reed_solomon() {
  return {.name = "reed-solomon",
          .summary = "several parities of the group's data, distributed over its nodes",
          .when = When::while_captured,
          .at_server = false,
          .rereads = false,
          .min_size = 2,
          .max_size = kMaxItems,
          .min_parities = 1,
          .max_parities = kMaxParities,
          .losses = parity_losses,
          .kept_per_byte = parity_bytes,
          .survives = parity_survives,
          .restore = restore_distributed,
          .map = distributed_map};
}

}  // namespace perdure::redundancy
