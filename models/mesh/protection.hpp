#pragma once
// Checkpoints of a mesh that nobody had to write.
#include "automatic/protected_run.hpp"
#include "mesh/mesh.hpp"
#include "perdure/perdure.hpp"

namespace perdure::mesh {

using automatic::Policy;
using automatic::Taken;
using Protection = automatic::ProtectedRun;

/// From here on the mesh makes checkpoints by itself: after all that every run does first, before its time steps. Where
/// there is a checkpoint of `policy.name` the run goes on from there: loops up to it are skipped. The handle is the
/// mesh's alone, and outlives it. The reference is good as long as the mesh. [collective] Throws std::runtime_error.
Protection& protect(Mesh& mesh, perdure::Handle& handle, const Policy& policy = {});

}  // namespace perdure::mesh
