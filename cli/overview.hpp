#pragma once
// This is the text that `perdure` alone prints.
#include <string>

namespace perdure::cli {

std::string overview();

}  // namespace perdure::cli
