#pragma once
// Models the synchronous writer, the reference for asynchronous checkpointing. All ranks write their parts of one
// shared file, and compute on once all of it is stored.
#include "base/result.hpp"
#include "simulate/scenario.hpp"

namespace perdure::studies {

/// Returns the seconds until the last node has written everything, in virtual time. Every rank is a stream to the
/// store. `efficiency` is the share of the store's throughput that one shared file reaches. Nodes beyond max_simulated
/// are represented by the simulated ones.
double synchronous_write_s(const simulate::Scenario& scenario, double efficiency);

}  // namespace perdure::studies
