#pragma once
// perdure doctor --process: which of the kernel's facilities that capture and resume need are here.
#include <vector>

#include "inspect/check.hpp"
#include "process/facilities.hpp"

namespace perdure::cli {

/// Of what trying them came to. Pure.
std::vector<inspect::Check> judge_facilities(const process::FacilityErrors& errors, const std::string& trace_scope);

}  // namespace perdure::cli
