#pragma once
#include <cstdint>

#include "fields.hpp"

namespace clover {

/// Of what a time step begins with: densities, energies and velocities, without halos. The same on any number of ranks.
/// [collective]
std::uint64_t state_hash(const Fields& fields);

}  // namespace clover
