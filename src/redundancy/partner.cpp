// Reads the local tier again after the capture, and sends it to the next node: the classic way, for comparison.
#include "redundancy/copies.hpp"
#include "redundancy/registry.hpp"

namespace perdure::redundancy {

Scheme partner() {
  return {.name = "partner",
          .summary = "a copy on the next node of the group, read again and sent after the capture",
          .when = When::after_capture,
          .at_server = false,
          .rereads = true,
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

}  // namespace perdure::redundancy
