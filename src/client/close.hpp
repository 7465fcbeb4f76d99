#pragma once
// Ends a job's handle: the captured versions get to the store first, or are named.
#include "client/job.hpp"

namespace perdure::client {

/// [collective] Waits for the flush of an embedded engine, and disconnects from it. `met`: no rank is in another call,
/// or gone. Otherwise it has done nothing, and each rank must call close_job_alone(), outside of the call.
base::Status close_job(Job& job, bool& met);
/// [local] Does the same for a rank that cannot speak with the others any more. Its own node's engine flushes the
/// versions that all ranks had agreed on. Names stay with this launch until others see its end, as the other ranks may
/// still write them.
base::Status close_job_alone(Job& job);

}  // namespace perdure::client
