#pragma once
// Verbs get their configuration here: defaults, file, environment, and --set of this command line. No other file of the
// tools loads one, so that --set means the same with every verb (configuration_test.cpp checks that).
#include "cli/verb.hpp"
#include "config/config.hpp"

namespace perdure::cli {

/// Gives the configuration with every path absolute.
base::Result<config::Config> configuration(const Terminal& terminal);
/// Gives it with paths as they were typed, for verbs that print them or pass them on.
base::Result<config::Config> configuration_as_given(const Terminal& terminal);

/// Checks that each --set names an option and a value that it takes; for verbs that need no configuration, too.
base::Status check_settings(const Terminal& terminal);

}  // namespace perdure::cli
