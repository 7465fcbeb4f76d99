#pragma once
// Versions pass the steps of a pipeline in the background; this is the interface of a step. To add one: a source file
// with a class and a StepRegistration, and its name in the option `pipeline` (docs/adr/0018).
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "engine/ledger/reports.hpp"
#include "plan/pipeline.hpp"
#include "segment/manifest.hpp"
#include "store/store.hpp"

namespace perdure::engine {

using plan::Level;

/// A version that has come to a step.
struct StepVersion {
  segment::VersionId id;
  Level level = Level::process;  ///< reached by this node's part of it
  bool recovered = false;        ///< committed again, after nodes were lost
};

/// An added step. All functions are called without a lock.
class Step {
 public:
  virtual ~Step() = default;
  /// Called when the version has reached the level that the step needs, and has passed the steps before. Runs on the
  /// step's own thread, with one version at a time. It may take as long as it needs until `stopping` is set. Then it
  /// must return, because the engine waits for it.
  /// Meanwhile the version may leave this node, or the store. An error is reported, once for each code until the step
  /// succeeds again, and the version goes on.
  virtual base::Status run(const StepVersion& version, const std::atomic<bool>& stopping) = 0;
};

/// The objects that a step may use as long as it lives.
struct StepContext {
  const config::Config& config;
  store::Store& store;
  Reports& reports;
};

/// A step's row in the registry.
struct StepRow {
  std::string name;
  std::string description;
  Level needs = Level::process;
  std::optional<Level> gives = {};  ///< the engine's own steps only: the ledger must be able to prove a level
  /// Makes the step. Empty for the engine's own.
  std::function<base::Result<std::unique_ptr<Step>>(const StepContext&)> make = {};
};

/// Makes an added step. Fails with PERDURE_INTERNAL if the code of the step throws.
base::Result<std::unique_ptr<Step>> make_step(const StepRow& row, const StepContext& context);

/// A variable of this type, at namespace scope in any source file that is linked, adds a step.
class StepRegistration {
 public:
  explicit StepRegistration(StepRow row);
};

/// Returns the rows of the engine's own steps and of those that were added.
std::vector<StepRow> known_steps();

/// Returns the rows of these names in their order. Fails for an unregistered name, for an order that cannot work
/// (plan::check_pipeline), and for `redundancy` without the step that replicates.
base::Result<std::vector<StepRow>> choose_steps(const std::vector<std::string>& names, bool redundancy);

}  // namespace perdure::engine
