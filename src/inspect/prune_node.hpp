#pragma once
// Plans `perdure prune --node`: the residue of dead engines on this machine.
#include <optional>
#include <set>
#include <string>

#include "config/config.hpp"
#include "inspect/prune_plan.hpp"
#include "node/left.hpp"

namespace perdure::inspect {

struct NodePrune {
  std::set<std::string> names;       ///< only residue that holds these names; empty: any
  std::optional<std::string> job;    ///< only residue of a job of this name
  std::optional<std::string> store;  ///< only residue of jobs with this store: an absolute path, or a URL
  double older_than_s = 0;           ///< only residue unused for so long, including data that the store lacks
  bool even_unstored = false;        ///< also data that the store lacks
};

struct NodeChoice {
  enum class What {
    not_asked_for,  ///< the wish is about others
    keep,
    remove
  } what = What::not_asked_for;
  std::string why;
};
/// Chooses. Pure. Without a further wish, only residue that the store has, or that holds no data, goes. A directory
/// goes as a whole or not at all.
NodeChoice choose(const NodePrune& wish, const node::Left& left, const node::Judgement& judgement);

/// Asks the stores of dead engines for their versions.
base::Status plan_node(const config::Config& config, const NodePrune& wish, PrunePlan& plan);

}  // namespace perdure::inspect
