#pragma once
// Plans `perdure prune --quarantine`: removals from a store's quarantine.
#include <set>
#include <string>

#include "inspect/prune_plan.hpp"

namespace perdure::inspect {

/// Gives the checkpoint's name in "<name>.<version>.<file name of a segment>", with any suffix; empty for any other.
std::string name_of_quarantined(const std::string& file);

/// Facts about a name that has segments in quarantine.
struct QuarantinedName {
  bool has_whole = false;  ///< the store has a complete version of it
  bool counts = false;     ///< its quarantine keeps it from being a first start (Store::set_aside)
};
/// Tells whether its quarantine may be emptied. Otherwise a start that is refused now would take the name for a first
/// start.
bool may_be_emptied(const QuarantinedName& name);

/// Plans the removal of quarantined segments with their reports, of these names alone unless there are none.
/// PERDURE_NOT_FOUND for a name of which the store has nothing.
base::Status plan_quarantine(store::Store& store, const std::set<std::string>& names, PrunePlan& plan);

}  // namespace perdure::inspect
