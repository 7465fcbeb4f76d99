#pragma once
// Writes a version for people: folded to a screenful, or every rank, region and chunk.
#include <string>

#include "cli/libraries.hpp"
#include "reader/inventory.hpp"

namespace perdure::cli {

std::string folded_text(const reader::VersionFacts& facts, const std::string& location);
std::string whole_text(const reader::VersionFacts& facts, const std::string& location);

}  // namespace perdure::cli
