#pragma once
// Declares the measurements of mesh_bench. Each prints one JSON object on rank 0. [collective]
namespace perdure::mesh_bench {

class Arguments;

/// --directory D --mib N (of a checkpoint, per rank) --checkpoints N
void blocking(const Arguments& arguments);
/// --directory D --cells N (squared) --steps N (before the checkpoint) --way replay|fast_forward
void restarting(const Arguments& arguments);

}  // namespace perdure::mesh_bench
