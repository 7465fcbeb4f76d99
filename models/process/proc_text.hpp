#pragma once
// Reads files of /proc, which may vanish meanwhile.
#include <filesystem>
#include <string>

#include "process/fields_of_text.hpp"

namespace perdure::process {

/// Returns the whole file; empty if it does not exist (any more) or cannot be read.
std::string proc_text(const std::string& path);

/// Calls use(number) for each numeric entry of a directory of /proc, such as processes or descriptors.
template <class Use>
void each_number_in(const std::string& directory, Use use) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (int number = 0; number_of(at->path().filename().native(), number)) use(number);
}

}  // namespace perdure::process
