#pragma once
// Handles that somebody else than their owner closes: MPI_Finalize, or the end of the process. What was acknowledged
// gets to the level that perdure_close() would give it. (docs/adr/0047)
#include "capi/handles.hpp"

namespace perdure::capi {

/// The handle stays in the table for its owner: calls give PERDURE_CLOSED, and perdure_close() says how this went. To
/// be called by who holds the handle. `why`: what ends it, for people.
base::Status close_early(Handle& handle, client::Closing closing, const std::string& why);

/// From the first call on, return from main() and exit() close what this process has open by then. Children that it
/// forks close only what they open themselves. [any thread]
void close_at_process_end();

/// The end of the process has waited for calls that go on, in vain: nobody waits for them again. [any thread]
bool has_waited_in_vain();

}  // namespace perdure::capi
