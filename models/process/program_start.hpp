#pragma once
// Starts a program that will be captured later, and checks obstacles before its first instruction.
#include <sys/types.h>

#include <string>
#include <vector>

#include "os/file.hpp"
#include "process/obstacles.hpp"

namespace perdure::process {

/// Finds obstacles that the executable itself is: a 32-bit program, or one that changes its user. `path` is searched as
/// a shell does. PERDURE_NOT_FOUND: there is none. PERDURE_PERMISSION: it may not be run.
base::Result<std::vector<Obstacle>> obstacles_of_program(const std::string& path);

/// A child of this process that becomes the program at go(). It ends if this object is destroyed before. This process
/// and its children, such as the guard, may trace it if users may trace at all (yama).
class ProgramStart {
 public:
  /// This process must have one thread.
  static base::Result<ProgramStart> begin(const std::vector<std::string>& command);
  ProgramStart(ProgramStart&& other) noexcept;
  ProgramStart& operator=(ProgramStart&&) = delete;
  ~ProgramStart();
  pid_t process() const { return process_; }
  /// Finds obstacles among the descriptors that the program would inherit, except those that captures leave out.
  base::Result<std::vector<Obstacle>> obstacles_of_its_files(const std::set<int>& left_out = {}) const;
  /// The child is the program at the return. PERDURE_NOT_FOUND, PERDURE_PERMISSION: it cannot be run, and the child has
  /// ended.
  base::Status go();
  /// Ends the child before it runs anything.
  void give_up();
  /// Returns the child, and stops waiting for it here.
  pid_t take() { return std::exchange(process_, 0); }

 private:
  ProgramStart(pid_t process, os::Fd go, os::Fd report, std::string name)
      : process_(process), go_(std::move(go)), report_(std::move(report)), name_(std::move(name)) {}
  pid_t process_;
  os::Fd go_, report_;
  std::string name_;
};

}  // namespace perdure::process
