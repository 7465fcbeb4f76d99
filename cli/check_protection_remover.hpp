#pragma once
// What removes the directories of `perdure run --check-protection` when it is killed itself.
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::cli {

/// Ends the engines (perdured) that were started for these directories and are still at work: what they write has no
/// place any more. The names are random, so a command line that has one is that of such an engine.
void end_engines(const std::vector<std::string>& directories);

/// Removes directories when this process ends in whatever way, and ends the engines that still work there: a child of
/// its own waits for that.
class Remover {
 public:
  static base::Result<std::unique_ptr<Remover>> start(std::vector<std::string> directories);
  ~Remover();  ///< ends the child; the directories are the caller's again
  Remover(const Remover&) = delete;
  Remover& operator=(const Remover&) = delete;

 private:
  Remover(int lifeline, int child) : lifeline_(lifeline), child_(child) {}
  int lifeline_, child_;
};

}  // namespace perdure::cli
