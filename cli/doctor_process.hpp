#pragma once
// perdure doctor --process checks which of the kernel's facilities for capture and resume are here.
#include <vector>

#include "inspect/check.hpp"
#include "process/facilities.hpp"

namespace perdure::cli {

/// Judges the results of trying them. Pure.
std::vector<inspect::Check> judge_facilities(const process::FacilityErrors& errors, const std::string& trace_scope);

}  // namespace perdure::cli
