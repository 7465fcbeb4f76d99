#include <CLI/CLI.hpp>

#include "cli/verb.hpp"
namespace perdure::cli {
Action enrol_doctor(CLI::App&) {
  return [](Terminal&) { return 0; };
}
}  // namespace perdure::cli
