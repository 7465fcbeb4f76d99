#pragma once
// Tells whether a living job writes a checkpoint's name.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "store/store.hpp"

namespace perdure::inspect {

/// Gives the living launch that owns `name`. Empty if there is none, it closed in order, or it is dead. It judges as a
/// launch that wants the name (plan/lease.hpp). So it waits until an owner on another machine renews its record, or has
/// not done so for a lease. It watches a damaged record for `lease_ns`: a living owner writes it again. If the wait
/// takes longer than a second, `waits` gets the reason once: "was not closed by ...".
base::Result<std::optional<store::Owner>> living_owner(store::Store& store, const std::string& name,
                                                       std::uint64_t lease_ns,
                                                       const std::function<void(const std::string& why)>& waits);

}  // namespace perdure::inspect
