#pragma once
// Files of /proc, which may go while they are read.
#include <string>

namespace perdure::process {

/// All of the file; empty where it is not there (any more), or cannot be read.
std::string proc_text(const std::string& path);

}  // namespace perdure::process
