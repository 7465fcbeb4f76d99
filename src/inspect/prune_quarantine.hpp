#pragma once
// What `perdure prune --quarantine` would remove of a store's quarantine.
#include <set>
#include <string>

#include "inspect/prune_plan.hpp"

namespace perdure::inspect {

/// The checkpoint's name in "<name>.<version>.<file name of a segment>", with whatever behind it; empty for any other.
std::string name_of_quarantined(const std::string& file);

/// What is known of a name of which something is in quarantine.
struct QuarantinedName {
  bool has_whole = false;  ///< the store has a complete version of it
  bool counts = false;     ///< what is set aside keeps it from being a first start (Store::set_aside)
};
/// Whether its quarantine may be emptied: else a start that is refused now would take the name for a first start.
bool may_be_emptied(const QuarantinedName& name);

/// What was set aside, of these names alone unless there are none, with its reports. PERDURE_NOT_FOUND for a name of
/// which the store has nothing.
base::Status plan_quarantine(store::Store& store, const std::set<std::string>& names, PrunePlan& plan);

}  // namespace perdure::inspect
