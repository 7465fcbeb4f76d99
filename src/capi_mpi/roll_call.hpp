#pragma once
// Finds out which ranks of a group have come to a call that others do not come to. It asks once, when the time for them
// is over.
#include <mpi.h>

namespace perdure::capi_mpi {

/// [collective over the ranks that have come] Gives perdure_late() a text, the same on all that answer within some
/// seconds. Each rank sends a byte to a few collectors. These call all others, and the lowest collector that has come
/// tells the others. `seconds` is how long the first has waited. If none of a group's collectors have come, its ranks
/// hear that nothing is known.
void call_the_roll(MPI_Comm comm, double seconds);

/// [local] Tells whether another rank has called: ranks that wait then go to call_the_roll(), too.
bool roll_is_called(MPI_Comm comm);

}  // namespace perdure::capi_mpi
