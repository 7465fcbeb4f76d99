#pragma once
// Ends engines of earlier launches of the same job that still flush, with another configuration.
#include <string>

#include "client/messages.hpp"
#include "config/config.hpp"

namespace perdure::client {

/// Ends those on this node that no rank is connected to, so that the next engine finds all that the job left here.
/// Their flushes continue where they were. PERDURE_UNAVAILABLE: one did not answer within engine.start_timeout, or
/// agreed and did not end within engine.drain_timeout. Without its holdings, an older version might be taken for the
/// latest, or the job would find nothing.
base::Status end_predecessors(const config::Config& config, const std::string& node_label, const Messages& messages);

}  // namespace perdure::client
