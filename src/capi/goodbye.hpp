#pragma once
// Closes handles without their owner: in MPI_Finalize, or at the end of the process. Acknowledged versions reach the
// level that perdure_close() would give them. (docs/adr/0047)
#include "capi/handles.hpp"

namespace perdure::capi {

/// Closes a handle, which stays in the table for its owner: calls give PERDURE_CLOSED, and perdure_close() returns this
/// outcome. The caller holds the handle. `why` names the cause for people.
base::Status close_early(Handle& handle, client::Closing closing, const std::string& why);

/// From the first call on, return from main() and exit() close this process's open handles. Forked children close only
/// handles that they open themselves. [any thread]
void close_at_process_end();

/// Whether the end of the process has waited in vain for running calls: nobody waits for them again. [any thread]
bool has_waited_in_vain();

}  // namespace perdure::capi
