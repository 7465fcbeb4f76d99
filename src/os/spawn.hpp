#pragma once
// Starts a process that is not our child.
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::os {

/// The program that spawn_daemon() starts.
struct BackgroundProgram {
  std::string path;
  std::vector<std::string> arguments;    ///< without argv[0]
  std::vector<std::string> environment;  ///< NAME=VALUE; nothing is inherited
  std::string errors;                    ///< a new file for its standard error
  int keep_fd = -1;                      ///< an inherited descriptor; -1: none
};

/// Starts it in its own session, not as our child. The other standard streams are /dev/null, and all descriptors but
/// `keep_fd` are closed, so that no reader of our output waits for it.
base::Status spawn_daemon(const BackgroundProgram& program);

}  // namespace perdure::os
