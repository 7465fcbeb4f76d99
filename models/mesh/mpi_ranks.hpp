#pragma once
// Makes Ranks from an MPI communicator.
#include <mpi.h>

#include <memory>

#include "mesh/ranks.hpp"

namespace perdure::mesh {

/// Duplicates the communicator. The result must be destroyed before MPI_Finalize(). [collective]
std::unique_ptr<Ranks> mpi_ranks(MPI_Comm communicator);

}  // namespace perdure::mesh
