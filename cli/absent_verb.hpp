#pragma once
// This stands for a verb that a program is built without (cli/run_only.cmake).
#include "cli/verb.hpp"

namespace perdure::cli {

/// Takes any arguments, and says that the verb is missing here, and how to get it.
Action absent_verb(CLI::App& app);

}  // namespace perdure::cli
