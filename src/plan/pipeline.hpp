#pragma once
// Checks the order of the steps that a version takes in the background after its commit. Pure.
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::plan {

/// How much a version survives.
enum class Level { process, node, store };
const char* level_name(Level level);

struct PipelineStep {
  std::string name;
  Level needs = Level::process;     ///< the step takes versions that have reached it
  std::optional<Level> gives = {};  ///< the step brings versions to it
};

/// Fails unless steps can run in this order. Each occurs once, one brings versions to the store, and each comes after
/// one that gives the level it needs. A committed version has level `process`. The error says the defect and its
/// remedy.
base::Status check_pipeline(const std::vector<PipelineStep>& steps);

/// Whether the step `first` is among them, and before `second`.
bool comes_before(const std::vector<std::string>& steps, const std::string& first, const std::string& second);

}  // namespace perdure::plan
