#pragma once
// The ranks of an MPI communicator.
#include <mpi.h>

#include <memory>

#include "mesh/ranks.hpp"

namespace perdure::mesh {

/// Duplicates the communicator, until its end, which is before MPI_Finalize(). [collective]
std::unique_ptr<Ranks> mpi_ranks(MPI_Comm communicator);

}  // namespace perdure::mesh
