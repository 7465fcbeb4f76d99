#pragma once
// Which ranks of a group have come to a call that others do not come to: asked once, when the time for them is over.
#include <mpi.h>

namespace perdure::capi_mpi {

/// [collective over the ranks that have come, at about the same time] perdure_late() gets a text, the same on all of
/// them. Each sends a byte to a few ranks that collect; the lowest of these that has come tells the others. `seconds`
/// is how long they have waited.
void call_the_roll(MPI_Comm comm, double seconds);

}  // namespace perdure::capi_mpi
