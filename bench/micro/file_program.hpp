#pragma once
#include "file_sweep.hpp"

namespace perdure::micro {

/// Parses, measures and prints: main() of pario and sario.
int run_file_program(int argc, char** argv, const std::string& benchmark, Layout layout);

}  // namespace perdure::micro
