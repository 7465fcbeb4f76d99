#pragma once
// What `perdure` alone prints.
#include <string>

namespace perdure::cli {

std::string overview();

}  // namespace perdure::cli
