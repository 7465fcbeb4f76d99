#pragma once
// What `perdure prune --node` would remove: what dead engines left on this machine.
#include <optional>
#include <set>
#include <string>

#include "config/config.hpp"
#include "inspect/prune_plan.hpp"
#include "node/left.hpp"

namespace perdure::inspect {

struct NodePrune {
  std::set<std::string> names;       ///< only what holds these; empty: whatever is held
  std::optional<std::string> job;    ///< only what a job of this name left
  std::optional<std::string> store;  ///< only what jobs with this store left: an absolute path, or a URL
  double older_than_s = 0;           ///< only what nobody has used for so long, and of that also what the store lacks
  bool even_unstored = false;        ///< also what the store lacks
};

struct NodeChoice {
  enum class What {
    not_asked_for,  ///< the wish is about others
    keep,
    remove
  } what = What::not_asked_for;
  std::string why;
};
/// Pure. Without a word only that goes which the store has, or which holds nothing; a directory goes whole or not at
/// all.
NodeChoice choose(const NodePrune& wish, const node::Left& left, const node::Judgement& judgement);

/// Asks the stores of dead engines what they have.
base::Status plan_node(const config::Config& config, const NodePrune& wish, PrunePlan& plan);

}  // namespace perdure::inspect
