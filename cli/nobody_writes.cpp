#include "cli/nobody_writes.hpp"

#include <fmt/format.h>

#include "cli/configuration.hpp"
#include "inspect/living_owner.hpp"

namespace perdure::cli {

// The next checkpoints of a living job might count as forgotten, if its clock is behind this one.
base::Status check_that_nobody_writes(store::Store& store, const std::string& name, const std::string& outcome,
                                      const Terminal& terminal) {
  PERDURE_TRY(const auto config, configuration(terminal));
  const auto lease_ns = static_cast<std::uint64_t>(config.real("checkpoint.lease") * 1e9);
  const auto waits = [&](const std::string& why) { print(terminal.err, fmt::format("perdure: {} {}\n", name, why)); };
  const auto found = inspect::living_owner(store, name, lease_ns, waits);
  if (!found && found.error().code == PERDURE_NOT_FOUND) return {};
  PERDURE_TRY(const auto owner, found);
  if (!owner) return {};
  return base::fail(PERDURE_BUSY, "checkpoint " + name, "a program that lives writes it: " + owner->text(),
                    "end that program first; " + outcome);
}

}  // namespace perdure::cli
