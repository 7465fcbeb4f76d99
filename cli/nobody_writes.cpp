#include "cli/nobody_writes.hpp"

#include <fmt/format.h>

#include "inspect/living_owner.hpp"

namespace perdure::cli {

// The next checkpoints of a job that lives might count as forgotten, where its clock is behind this one.
base::Status check_that_nobody_writes(store::Store& store, const std::string& name, const std::string& outcome,
                                      const Terminal& terminal) {
  const auto waits = [&](const store::Owner& owner) {
    print(terminal.err, fmt::format("perdure: {} was not closed by {}; waiting for up to {:.0f} s whether that lives\n",
                                    name, owner.text(), static_cast<double>(owner.lease_ns) * 1e-9));
  };
  const auto found = inspect::living_owner(store, name, waits);
  // A writer whose record nobody can read has no lease to renew.
  const bool nobody = !found && (found.error().code == PERDURE_CORRUPT || found.error().code == PERDURE_NOT_FOUND);
  if (nobody) return {};
  PERDURE_TRY(const auto owner, found);
  if (!owner) return {};
  return base::fail(PERDURE_BUSY, "checkpoint " + name, "a program that lives writes it: " + owner->text(),
                    "end that program first; " + outcome);
}

}  // namespace perdure::cli
