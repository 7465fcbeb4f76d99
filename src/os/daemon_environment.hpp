#pragma once
// Chooses the part of the application's environment that perdured inherits. The daemon outlives the application, and
// serves its restarts: it must not keep variables that it does not need, secrets among them.
#include <string>
#include <vector>

namespace perdure::os {

/// Keeps of NAME=VALUE pairs those that perdured, the dynamic linker and libfabric with its providers read
/// (docs/configuration.md).
std::vector<std::string> daemon_environment(const std::vector<std::string>& all);
/// Does so for this process's environment.
std::vector<std::string> daemon_environment();

}  // namespace perdure::os
