#pragma once
// A protocol makes the data of all ranks a version. Each checkpoint uses one, which Session chooses. (docs/adr/0061)
#include <optional>

#include "client/job.hpp"

namespace perdure::client {

class Protocol {
 public:
  virtual ~Protocol() = default;
  /// [collective] Writes this rank's piece of `id`, and agrees on it with the others. `opened`: the result of the
  /// call's opening.
  virtual base::Status write(const segment::VersionId& id, const Opened& opened) = 0;
  /// Gives the bytes of this rank's piece, after write(). Empty: it could not be captured.
  virtual std::optional<std::uint64_t> bytes() const = 0;
};

/// Tells whether checkpoints reach level `node` in their call.
inline bool replicates_in_call(Job& job) { return job.group().joined() && job.config().boolean("redundancy.in_call"); }

}  // namespace perdure::client
