#pragma once
// Checkpoints of a mesh that nobody had to write.
#include <memory>

#include "automatic/protection.hpp"
#include "mesh/mesh.hpp"
#include "perdure/perdure.hpp"

namespace perdure::mesh {

using automatic::Policy;
using automatic::Protection;
using automatic::Taken;

/// From here on the mesh makes checkpoints by itself: after all that every run does first, before its time steps. Where
/// there is a checkpoint of `policy.name` the run goes on from there: loops up to it are skipped. The handle is the
/// mesh's alone, and outlives it. [collective] Throws std::runtime_error.
Protection& protect(Mesh& mesh, perdure::Handle& handle, const Policy& policy = {});
/// The same with another store.
Protection& protect(Mesh& mesh, std::unique_ptr<automatic::CheckpointStore> store, const Policy& policy,
                    automatic::Protection::Tell tell);
/// As checkpoints see it.
automatic::StoredSet stored_set(const Dataset& set);

}  // namespace perdure::mesh
