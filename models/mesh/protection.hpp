#pragma once
// Protects a mesh by checkpoints that the program does not have to write.
#include "automatic/protected_run.hpp"
#include "mesh/mesh.hpp"
#include "perdure/perdure.hpp"

namespace perdure::mesh {

using automatic::Policy;
using automatic::Taken;
using Protection = automatic::ProtectedRun;

/// From here on the mesh makes checkpoints by itself. Call it after the initialisation that every run repeats, before
/// the time steps. If there is a checkpoint of `policy.name`, the run continues from it and skips the loops up to it.
/// The handle belongs to the mesh alone and must outlive it. The reference is valid as long as the mesh. [collective]
/// Throws std::runtime_error.
Protection& protect(Mesh& mesh, perdure::Handle& handle, const Policy& policy = {});

}  // namespace perdure::mesh
