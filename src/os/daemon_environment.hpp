#pragma once
// Chooses the part of the application's environment that perdured inherits. The daemon outlives the application, and
// serves its restarts: it must not keep variables that it does not need, secrets among them.
#include <string>
#include <string_view>
#include <vector>

namespace perdure::os {

/// Keeps of NAME=VALUE pairs those that perdured, the dynamic linker and libfabric with its providers read
/// (docs/configuration.md). `family`: the beginning of more names to keep, such as those of a store's credentials.
std::vector<std::string> daemon_environment(const std::vector<std::string>& all, std::string_view family = {});
/// Does so for this process's environment.
std::vector<std::string> daemon_environment(std::string_view family);

}  // namespace perdure::os
