// Sends every chunk to the next node of the group while the capture runs, straight from its slot.
#include "redundancy/copies.hpp"
#include "redundancy/registry.hpp"

namespace perdure::redundancy {

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

}  // namespace perdure::redundancy
