#pragma once
// The rows of a study for people: medians per cell and policy.
#include <string>
#include <vector>

#include "row.hpp"

namespace perdure::studies {

/// At most about 60 lines; says so when it leaves cells out.
std::string summary_table(const std::vector<Row>& rows);

}  // namespace perdure::studies
