#pragma once
// Finds the best plan in hindsight, to judge policies by.
//
// A static plan gives every tier but the first a limit of concurrent writers and a share of the node's chunks. The
// first tier is used whenever it has room, and no writer waits while a limit is not reached. The oracle knows the
// future: it simulates many plans and every registered policy on the very scenario (same seed, same load of others,
// same failures). It keeps the outcome with the shortest local phase among those whose flush completion is within 1 %
// of the earliest. It is a best known outcome, not a proven bound: a plan that changes over time might do better.
#include <string>

#include "base/result.hpp"
#include "simulate/cluster.hpp"

namespace perdure::simulate {

struct Hindsight {
  Outcome outcome;
  std::string plan;        ///< "tier ssd: 16 writers, 25 % of the chunks", or the policy's name
  unsigned simulated = 0;  ///< plans and policies tried
};

/// Errors are those of run(). Takes about a hundred simulations for each tier but the first.
base::Result<Hindsight> oracle(const Scenario& scenario, const Stored& stored = {});

}  // namespace perdure::simulate
