#pragma once
// Versions that a restore of the newest did not take although they are newer. (docs/adr/0052)
#include <string>
#include <vector>

#include "client/inventory.hpp"

namespace perdure::client {

struct PassedOver {
  segment::VersionId id;
  std::string why;
};

/// The candidates that began after `chosen` and cannot be had, the newest first. What was never complete, such as a
/// capture that a death cut short, is none. Pure.
std::vector<PassedOver> newer_than(const segment::VersionId& chosen, const VersionPlans& plans, const JobInventory& all,
                                   const StoreView& store, const Candidates& candidates);

/// Of those that were passed over before what began after `chosen` stays so: an earlier choice may have taken an older
/// one. Pure.
void keep_newer(std::vector<PassedOver>& passed, const segment::VersionId& chosen);

/// "app version 9 (it is damaged), app version 8 (...)"
std::string passed_over_text(const std::vector<PassedOver>& passed);

/// [collective] Why all ranks leave a version: what the lowest rank says that knows more than that another one failed.
base::Result<std::string> common_reason(comm::Communicator& comm, const base::Error& mine);

}  // namespace perdure::client
