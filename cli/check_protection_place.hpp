#pragma once
// Where the runs of `perdure run --check-protection` keep what they write: directories of their own, beside those that
// the configuration names, so that they are on the same file systems and nothing of the user's is touched.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/libraries.hpp"
#include "config/config.hpp"
#include "inspect/check_protection_remover.hpp"
#include "launch/process.hpp"

namespace perdure::cli {

class CheckPlace {
 public:
  /// Makes the directories: NAME-check-RANDOM beside each of store.path, node.path and the tiers' paths.
  static base::Result<std::unique_ptr<CheckPlace>> make(config::Config config);
  /// Removes them as far as that can be done at once; what is not, or comes back, a helper that outlives this removes.
  ~CheckPlace();
  CheckPlace(const CheckPlace&) = delete;
  CheckPlace& operator=(const CheckPlace&) = delete;

  /// The configuration of run `number`: a store, node directories and a job of its own, every version kept, engines
  /// that end soon after the program.
  base::Result<config::Config> for_run(unsigned number) const;
  /// Files NAME@VERSION: what run `number` restored.
  std::string record_of(unsigned number) const;
  /// Ends what engines still work there and removes everything now; the error of what cannot be removed. To be called
  /// when the runs ended by themselves, so that nobody writes there any more.
  base::Status remove();

 private:
  CheckPlace() = default;
  base::Status remove_once();
  std::vector<std::string> directories() const;  ///< each once
  std::string store_, node_;
  std::map<std::string, std::string> tiers_;  ///< by the tier's name; none of those that are in node_
  std::vector<std::string> made_parents_;     ///< that were not there before, innermost first
  std::string job_;
  config::Config config_;
  std::unique_ptr<Remover> remover_;
};

/// What the command line set in `config`, as variables for a program.
Environment environment_of(const config::Config& config);

}  // namespace perdure::cli
