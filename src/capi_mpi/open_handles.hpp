#pragma once
// MPI_Finalize closes the handles that perdure_open_mpi() made; this file keeps them.
#include "perdure/perdure_mpi.h"

namespace perdure::capi_mpi {

/// The group of ranks of a handle.
struct Group {
  MPI_Comm comm = MPI_COMM_NULL;  ///< its own
  perdure_t* handle = nullptr;
  bool broken = false;  ///< a call of MPI was left because some ranks did not come to it
};

/// [local] Lets MPI_Finalize close `handle`, in the reverse order of opening, unless forget() comes first. Ranks that
/// have several handles in common have opened them in the same order, so that all come to the same close.
void close_at_finalize(Group& group, perdure_t* handle) noexcept;
void forget(const Group& group) noexcept;

}  // namespace perdure::capi_mpi
