#pragma once
// The image of a process that stands still, without the bytes of its pages.
#include "process/image.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

/// PERDURE_UNSUPPORTED: it has what cannot be captured. The process is as before.
base::Result<ProcessImage> read_image(Tracee& tracee);

}  // namespace perdure::process
