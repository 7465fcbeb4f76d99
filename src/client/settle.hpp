#pragma once
// Settles attempts that a death left undecided between staging and commit. (docs/adr/0002)
#include "client/job.hpp"

namespace perdure::client {

/// [collective] All ranks decide together, whenever engines are attached.
base::Status settle(Job& job);

}  // namespace perdure::client
