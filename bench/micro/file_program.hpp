#pragma once
#include "file_sweep.hpp"

namespace perdure::micro {

/// Implements main() of pario and sario: parses, measures and prints.
int run_file_program(int argc, char** argv, const std::string& benchmark, Layout layout);

}  // namespace perdure::micro
