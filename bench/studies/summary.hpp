#pragma once
// Formats a study's rows for readers: medians per cell and policy.
#include <string>
#include <vector>

#include "row.hpp"

namespace perdure::studies {

/// Has at most about 60 lines; says so if it leaves cells out.
std::string summary_table(const std::vector<Row>& rows);

}  // namespace perdure::studies
