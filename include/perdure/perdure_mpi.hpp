/// @file
/// This header adds one more way to open to perdure.hpp: Perdure for C++ with MPI. Link with libperdure_mpi.
#pragma once

#include "perdure/perdure.hpp"
#include "perdure/perdure_mpi.h"

namespace perdure {

/// Opens for the ranks of `communicator`, which is duplicated. [collective] See perdure_open_mpi().
inline Result<Handle> open_mpi(MPI_Comm communicator, const std::string& options = {}) {
  return detail::open_with([&](perdure_t** out, char* text, std::size_t bytes) {
    return perdure_open_mpi(communicator, options.c_str(), out, text, bytes);
  });
}

}  // namespace perdure
