#pragma once
// Protects running programs from verbs that change what they go on with.
#include <string>

#include "cli/verb.hpp"
#include "store/store.hpp"

namespace perdure::cli {

/// PERDURE_BUSY: a living program writes `name`; `outcome` says what therefore was not done. Says on err when it has to
/// wait for the answer.
base::Status check_that_nobody_writes(store::Store& store, const std::string& name, const std::string& outcome,
                                      const Terminal& terminal);

}  // namespace perdure::cli
