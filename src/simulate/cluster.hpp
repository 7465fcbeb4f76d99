#pragma once
// Simulates many nodes that share a store: the discrete-event loop.
//
// Up to `max_simulated` nodes are simulated one by one (exact). If there are more, that many are simulated. Each stands
// for the same number of equal ones (a fraction, if it does not divide evenly). It counts as that number when the store
// is shared. This loses the spread between the nodes that one stands for; cluster_test.cpp compares the two.
#include "base/result.hpp"
#include "simulate/scenario.hpp"

namespace perdure::simulate {

/// Makes a decision function; called once per simulated node, so that a plan can keep its own state.
using MakeDecide = std::function<Decide()>;

/// Returns the models that a calibration of the scenario's tiers gives: their curves, measured at a tenth of the writer
/// counts.
base::Result<std::vector<placement::DeviceModel>> calibrate(const Scenario& scenario);

/// Receives how many chunks of simulated nodes have reached the store since the last call.
using Stored = std::function<void(std::uint64_t chunks)>;

/// Runs until everything is in the store. The same scenario gives the same outcome, to the bit. Errors are those of
/// check(), and PERDURE_INTERNAL for a deadlock: chunks are left and no event can happen any more.
base::Result<Outcome> run(const Scenario& scenario, const MakeDecide& make_decide, const Stored& stored = {});
base::Result<Outcome> run(const Scenario& scenario, const placement::Policy& policy, const Stored& stored = {});

}  // namespace perdure::simulate
