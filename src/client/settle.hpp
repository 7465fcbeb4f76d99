#pragma once
// What a death between staging and commit left undecided. (docs/adr/0002)
#include "client/job.hpp"

namespace perdure::client {

/// [collective] Decided by all ranks together, whenever engines are attached.
base::Status settle(Job& job);

}  // namespace perdure::client
