#pragma once
// The synchronous writer that asynchronous checkpointing is compared with: all ranks write their parts of one shared
// file and compute on when all of it is in the store.
#include "base/result.hpp"
#include "simulate/scenario.hpp"

namespace perdure::studies {

/// Seconds until the last node has written everything, in virtual time. Every rank is a stream to the store;
/// `efficiency` is the part of the store's throughput that one file shared by all ranks reaches. Nodes beyond
/// max_simulated are represented.
double synchronous_write_s(const simulate::Scenario& scenario, double efficiency);

}  // namespace perdure::studies
