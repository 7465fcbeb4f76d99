#pragma once
// Which ranks of a group have come to a call that others do not come to: asked once, when the time for them is over.
#include <mpi.h>

namespace perdure::capi_mpi {

/// [collective over the ranks that have come] perdure_late() gets a text, the same on all that answer within some
/// seconds. Each sends a byte to a few ranks that collect; these call all others, and the lowest of them that has come
/// tells the others. `seconds` is how long the first has waited. Groups whose collectors have all not come are told
/// that nothing is known.
void call_the_roll(MPI_Comm comm, double seconds);

/// [local] Another rank has called: whoever waits goes to call_the_roll(), too.
bool roll_is_called(MPI_Comm comm);

}  // namespace perdure::capi_mpi
