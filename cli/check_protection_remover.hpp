#pragma once
// What removes the directories of `perdure run --check-protection` when it is stopped or killed.
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "os/file.hpp"

namespace perdure::cli {

/// Ends the engines (perdured) that were started for these directories and are still at work: what they write has no
/// place any more. The names are random, so a command line that has one is that of such an engine.
void end_engines(const std::vector<std::string>& directories);

/// Removes directories when this goes or the process ends in whatever way, and ends the engines that still work there:
/// a child of its own waits for that. It needs some seconds, looks again until nothing has come back, and ends by
/// itself.
class Remover {
 public:
  /// `parents` are removed at the end if they are empty then, in this order.
  static base::Result<std::unique_ptr<Remover>> start(std::vector<std::string> directories,
                                                      std::vector<std::string> parents);
  ~Remover();      ///< lets the child begin; waits for nothing
  void dismiss();  ///< ends the child: everything is removed already, and nobody is left who writes there
  Remover(const Remover&) = delete;
  Remover& operator=(const Remover&) = delete;

 private:
  Remover(os::Fd lifeline, int child) : lifeline_(std::move(lifeline)), child_(child) {}
  os::Fd lifeline_;
  int child_;  ///< -1: dismissed
};

}  // namespace perdure::cli
