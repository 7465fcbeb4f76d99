#pragma once
// perdure show --regions lists the regions of a version, with statistics of their numbers.
#include <string>

#include "cli/verb.hpp"

namespace perdure::cli {

int show_regions(const std::string& checkpoint, const std::string& location, bool statistics, bool json,
                 Terminal& terminal);

}  // namespace perdure::cli
