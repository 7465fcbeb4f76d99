#pragma once
// Removes the directories of `perdure run --check-protection` when that is stopped or killed.
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "os/file.hpp"

namespace perdure::inspect {

/// Ends the engines (perdured) that were started for these directories and still run: their data is not needed any
/// more. The names are random, so only such an engine has one on its command line.
void end_engines(const std::vector<std::string>& directories);

/// Removes directories when this object is destroyed or the process ends in any way, and ends the engines that still
/// work there. A child process waits for that moment. It needs some seconds, removes until no file comes back, and then
/// ends.
class Remover {
 public:
  /// `parents` are removed at the end if they are empty then, in this order.
  static base::Result<std::unique_ptr<Remover>> start(std::vector<std::string> directories,
                                                      std::vector<std::string> parents);
  ~Remover();      ///< lets the child begin, and does not wait for it
  void dismiss();  ///< ends the child: everything is removed already, and no process writes there
  Remover(const Remover&) = delete;
  Remover& operator=(const Remover&) = delete;

 private:
  Remover(os::Fd lifeline, int child) : lifeline_(std::move(lifeline)), child_(child) {}
  os::Fd lifeline_;
  int child_;  ///< -1: dismissed
};

}  // namespace perdure::inspect
