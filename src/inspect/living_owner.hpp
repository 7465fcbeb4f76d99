#pragma once
// Whether a job that lives writes a checkpoint's name.
#include <functional>
#include <optional>
#include <string>

#include "store/store.hpp"

namespace perdure::inspect {

/// The launch that owns `name` and lives; nobody where there is none, or it closed in order, or it is dead. Judged as
/// a launch that wants the name judges (plan/lease.hpp): until its owner on another machine renews its record, or has
/// not done so for a lease, this waits. `waits` is told of whom, once, when that takes longer than a second.
base::Result<std::optional<store::Owner>> living_owner(store::Store& store, const std::string& name,
                                                       const std::function<void(const store::Owner&)>& waits);

}  // namespace perdure::inspect
