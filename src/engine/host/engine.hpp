#pragma once
// Runs the engine of one node and job. A leader rank (embedded) and perdured use the same class.
#include <memory>
#include <string>

#include "config/config.hpp"
#include "engine/host/node_directory.hpp"
#include "engine/pipeline/step.hpp"

namespace perdure::engine {

class Engine {
 public:
  /// Replays the catalog, resumes unfinished flushes and listens on claim.paths.socket(). `idle_exit` (perdured started
  /// by a client): end after option engine.idle_exit without clients and without work.
  static base::Result<std::unique_ptr<Engine>> start(const config::Config& config, Claim claim, bool idle_exit);
  ~Engine();  ///< stop()
  const std::string& socket_path() const;
  /// Blocks until a client asked for shutdown, the idle time passed, or stop() was called.
  void wait_until_over();
  /// Ends all threads. A flush in flight stops at its next block and is resumed by the next engine. When everything is
  /// in the store, tiers, catalog and directories are removed. Repeatable.
  void stop();

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  static base::Status make(Parts& parts, const config::Config& config, Claim claim, bool idle_exit);
  static void shut(Parts& parts);
  static base::Status make_group(Parts& parts, const config::Config& config);
  static base::Status make_pipeline(Parts& parts, std::vector<StepRow> steps);
  std::unique_ptr<Parts> parts_;
};

}  // namespace perdure::engine
