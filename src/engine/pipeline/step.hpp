#pragma once
// A step of the pipeline in which versions go through the background, and how one is added: a source file with a class
// and a StepRegistration, and its name in the option `pipeline`. (docs/adr/0018)
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
  Level level = Level::process;  ///< that this node's part of it has reached
  bool recovered = false;        ///< committed again, after nodes were lost
};

/// A step that somebody adds. Everything is called without a lock.
class Step {
 public:
  virtual ~Step() = default;
  /// The version has reached the level that the step needs, and is through with the steps before it. On a thread that
  /// is this step's own, one version at a time: it may take as long as it wants, but not longer once `stopping` is set,
  /// because the engine waits for its end. The version may leave this node, or the store, meanwhile. An error is
  /// reported, once for each code until the step succeeds again, and the version goes on.
  virtual base::Status run(const StepVersion& version, const std::atomic<bool>& stopping) = 0;
};

/// What a step may use as long as it lives.
struct StepContext {
  const config::Config& config;
  store::Store& store;
  Reports& reports;
};

/// What the registry says of a step.
struct StepRow {
  std::string name;
  std::string description;
  Level needs = Level::process;
  std::optional<Level> gives = {};  ///< of the engine's own only: a level is what the ledger can prove
  /// Empty: one of the engine's own.
  std::function<base::Result<std::unique_ptr<Step>>(const StepContext&)> make = {};
};

/// A variable of this type, at namespace scope in any source file that is linked, adds a step.
/// Makes an added step. What its code throws is PERDURE_INTERNAL.
base::Result<std::unique_ptr<Step>> make_step(const StepRow& row, const StepContext& context);

class StepRegistration {
 public:
  explicit StepRegistration(StepRow row);
};

/// The engine's own, and those that were added.
std::vector<StepRow> known_steps();

/// The rows of these names in their order. Errors: a name that nobody registered, an order that cannot work
/// (plan::check_pipeline), and `redundancy` without the step that replicates.
base::Result<std::vector<StepRow>> choose_steps(const std::vector<std::string>& names, bool redundancy);

}  // namespace perdure::engine
