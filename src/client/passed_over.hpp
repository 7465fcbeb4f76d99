#pragma once
// A restore of the newest version passes over newer versions that it cannot take. (docs/adr/0052)
#include <string>
#include <vector>

#include "client/inventory.hpp"

namespace perdure::client {

struct PassedOver {
  segment::VersionId id;
  std::string why;
};

/// Gives the candidates that began after `chosen` and cannot be had, the newest first. Attempts that were never
/// complete, such as a capture that a death cut short, do not count. Pure.
std::vector<PassedOver> newer_than(const segment::VersionId& chosen, const VersionPlans& plans, const JobInventory& all,
                                   const StoreView& store, const Candidates& candidates);

/// Keeps those of the passed-over versions that began after `chosen`: an earlier choice may have taken an older one.
/// Pure.
void keep_newer(std::vector<PassedOver>& passed, const segment::VersionId& chosen);

/// Writes them as a text: "app version 9 (it is damaged), app version 8 (...)".
std::string passed_over_text(const std::vector<PassedOver>& passed);

/// [collective] Gives the reason for which all ranks leave a version: that of the lowest rank that knows more than that
/// another one failed.
base::Result<std::string> common_reason(comm::Communicator& comm, const base::Error& mine);

}  // namespace perdure::client
