#pragma once
// Many nodes that share a store: the discrete-event loop.
//
// Up to `max_simulated` nodes are simulated one by one (exact). More are represented: that many nodes are simulated,
// each stands for the same number of equal ones (a fraction, where it does not divide evenly), and counts as that
// number when the store is shared out. What is lost is the spread between the nodes that one stands for;
// cluster_test.cpp compares the two.
#include "base/result.hpp"
#include "simulate/scenario.hpp"

namespace perdure::simulate {

/// A decision for every node: called once per simulated node, so that a plan can keep state of its own.
using MakeDecide = std::function<Decide()>;

/// The models that a calibration of the scenario's tiers gives: their curves, measured at a tenth of the writer counts.
base::Result<std::vector<placement::DeviceModel>> calibrate(const Scenario& scenario);

/// Hears how many chunks of simulated nodes have got to the store since the last time.
using Stored = std::function<void(std::uint64_t chunks)>;

/// Runs until everything is in the store. The same scenario gives the same outcome, to the bit. Errors: those of
/// check(); PERDURE_INTERNAL when nothing can happen any more and chunks are left (a deadlock).
base::Result<Outcome> run(const Scenario& scenario, const MakeDecide& make_decide, const Stored& stored = {});
base::Result<Outcome> run(const Scenario& scenario, const placement::Policy& policy, const Stored& stored = {});

}  // namespace perdure::simulate
