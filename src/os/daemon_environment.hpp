#pragma once
// What perdured inherits of the application's environment. It outlives the application, and serves its restarts: what
// it does not need, secrets among it, has no place there.
#include <string>
#include <vector>

namespace perdure::os {

/// Of NAME=VALUE pairs, those that perdured, the dynamic linker and libfabric with its providers read
/// (docs/configuration.md).
std::vector<std::string> daemon_environment(const std::vector<std::string>& all);
/// Of this process's environment.
std::vector<std::string> daemon_environment();

}  // namespace perdure::os
