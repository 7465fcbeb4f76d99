#pragma once
// Starting a process that lives on its own.
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::os {

/// What starts as a process that lives on its own.
struct BackgroundProgram {
  std::string path;
  std::vector<std::string> arguments;    ///< without argv[0]
  std::vector<std::string> environment;  ///< NAME=VALUE, and nothing else
  std::string errors;                    ///< the file, made anew, that gets its standard error
  int keep_fd = -1;                      ///< a descriptor that it inherits; -1: none
};

/// Starts it with a session of its own, not as our child, with the other standard streams on /dev/null and every
/// descriptor closed but `keep_fd`, so that no reader of our output waits for it.
base::Status spawn_daemon(const BackgroundProgram& program);

}  // namespace perdure::os
