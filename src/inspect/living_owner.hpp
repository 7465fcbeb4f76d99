#pragma once
// Whether a job that lives writes a checkpoint's name.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "store/store.hpp"

namespace perdure::inspect {

/// The launch that owns `name` and lives; nobody where there is none, or it closed in order, or it is dead. Judged as
/// a launch that wants the name judges (plan/lease.hpp): until its owner on another machine renews its record, or has
/// not done so for a lease, this waits. A record that is damaged is watched for `lease_ns`: an owner that lives writes
/// it again. `waits` is told why, once, when that takes longer than a second: "was not closed by ...".
base::Result<std::optional<store::Owner>> living_owner(store::Store& store, const std::string& name,
                                                       std::uint64_t lease_ns,
                                                       const std::function<void(const std::string& why)>& waits);

}  // namespace perdure::inspect
