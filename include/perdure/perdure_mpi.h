/** @file
 * This header adds one more way to open: Perdure with MPI. Link with libperdure_mpi. The conventions are those of
 * perdure.h. */
#ifndef PERDURE_PERDURE_MPI_H
#define PERDURE_PERDURE_MPI_H

#include <mpi.h>

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Opens Perdure for the ranks of `communicator`, which is duplicated. [collective]
 * MPI must be initialised. MPI_Finalize closes the handles that are still open, as perdure_close_early() does: it
 * stores their checkpoints first. No MPI call is made outside [collective] calls, nor after MPI_Finalize. A handle that
 * is closed after MPI_Finalize returns PERDURE_CLOSED, or why MPI_Finalize could not store everything. `options`, `out`
 * and `message` are those of perdure_open_communicator(). */
PERDURE_API perdure_status perdure_open_mpi(MPI_Comm communicator, const char* options, perdure_t** out, char* message,
                                            size_t message_bytes);

/** The same for a Fortran communicator handle (MPI_Fint). */
PERDURE_API perdure_status perdure_open_mpi_fortran(MPI_Fint communicator, const char* options, perdure_t** out,
                                                    char* message, size_t message_bytes);

#ifdef __cplusplus
}
#endif
#endif /* PERDURE_PERDURE_MPI_H */
