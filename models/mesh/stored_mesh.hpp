#pragma once
// Adapts a mesh for automatic checkpoints in any store.
#include <memory>

#include "automatic/protection.hpp"
#include "mesh/mesh.hpp"

namespace perdure::mesh {

automatic::StoredSet stored_set(const Dataset& set);

/// Does what protect() of protection.hpp does, with any store. `tell` receives errors of checkpoints while the run
/// continues. [collective]
automatic::Protection& protect(Mesh& mesh, std::unique_ptr<automatic::CheckpointStore> store,
                               const automatic::Policy& policy, automatic::Protection::Tell tell);

}  // namespace perdure::mesh
