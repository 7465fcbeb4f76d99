#pragma once
// The runs of `perdure run --check-protection` write into directories of their own. These lie beside those that the
// configuration names. So they are on the same file systems, and the user's files are not touched.
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
  /// Removes them as far as possible at once; a helper that outlives this removes the rest, and files that come back.
  ~CheckPlace();
  CheckPlace(const CheckPlace&) = delete;
  CheckPlace& operator=(const CheckPlace&) = delete;

  /// Gives the configuration of run `number`: a store, node directories and a job of its own. Every version is kept,
  /// and engines end soon after the program.
  base::Result<config::Config> for_run(unsigned number) const;
  /// Gives the directory of files NAME@VERSION that tell which versions run `number` restored.
  std::string record_of(unsigned number) const;
  /// Ends engines that still work there and removes everything now; returns the error of files that cannot be removed.
  /// To be called when the runs ended by themselves, so that nobody writes there any more.
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

/// Gives the command line's settings in `config` as variables for a program.
Environment environment_of(const config::Config& config);

}  // namespace perdure::cli
