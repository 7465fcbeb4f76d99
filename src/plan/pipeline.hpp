#pragma once
// The steps that a version takes in the background after its commit, as far as their order goes. Pure.
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

/// Whether steps can run in this order: each one once, one that brings versions to the store, and each after one that
/// gives what it needs; level `process` is there when a version is committed. The error says what is wrong, and how
/// to put it right.
base::Status check_pipeline(const std::vector<PipelineStep>& steps);

/// Whether the step `first` is among them, and before `second`.
bool comes_before(const std::vector<std::string>& steps, const std::string& first, const std::string& second);

}  // namespace perdure::plan
