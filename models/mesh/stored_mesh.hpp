#pragma once
// A mesh as checkpoints see it, and checkpoints of it in any store.
#include <memory>

#include "automatic/protection.hpp"
#include "mesh/mesh.hpp"

namespace perdure::mesh {

automatic::StoredSet stored_set(const Dataset& set);

/// As protect() of protection.hpp. `tell` gets what goes wrong with checkpoints while the run goes on. [collective]
automatic::Protection& protect(Mesh& mesh, std::unique_ptr<automatic::CheckpointStore> store,
                               const automatic::Policy& policy, automatic::Protection::Tell tell);

}  // namespace perdure::mesh
