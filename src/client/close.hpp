#pragma once
// The end of a job's handle: what was captured gets to the store first, or is named.
#include "client/job.hpp"

namespace perdure::client {

/// [collective] Waits for the flush of an embedded engine, and lets go of it. `met`: no rank is in another call, or
/// gone; otherwise it has done nothing, and each rank is left with close_job_alone(), outside of the call.
base::Status close_job(Job& job, bool& met);
/// [local] The same for a rank that cannot speak with the others any more. Its own node's engine flushes what all ranks
/// had agreed on. Names stay with this launch until others see its end, as the other ranks may still write them.
base::Status close_job_alone(Job& job);

}  // namespace perdure::client
