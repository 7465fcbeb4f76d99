#pragma once
// Starting a process that lives on its own.
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::os {

/// Starts `program` with `arguments` (without argv[0]) as a daemon: own session, not our child, standard streams on
/// /dev/null, every descriptor closed but `keep_fd` (-1: none), so that no reader of our output waits for the child.
/// The environment is ours.
base::Status spawn_daemon(const std::string& program, const std::vector<std::string>& arguments, int keep_fd);

}  // namespace perdure::os
