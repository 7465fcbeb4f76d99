#pragma once
// A program that is to be captured later: what of that can be seen and arranged before its first instruction.
#include <sys/types.h>

#include <string>
#include <vector>

#include "os/file.hpp"
#include "process/obstacles.hpp"

namespace perdure::process {

/// What of the file itself can never be captured: a program of 32 bits, or one that changes its user. `path` is found
/// as a shell does. PERDURE_NOT_FOUND: there is none; PERDURE_PERMISSION: none that may be run.
base::Result<std::vector<Obstacle>> obstacles_of_program(const std::string& path);

/// A child of this process that becomes the program when it is told to, and ends when this is destroyed before. This
/// process and its children, the guard among them, may trace it wherever a user may trace anything (yama).
class ProgramStart {
 public:
  /// To be called while this process has one thread.
  static base::Result<ProgramStart> begin(const std::vector<std::string>& command);
  ProgramStart(ProgramStart&& other) noexcept;
  ProgramStart& operator=(ProgramStart&&) = delete;
  ~ProgramStart();
  pid_t process() const { return process_; }
  /// What it has open, and the program would have, but for descriptors that captures leave out.
  base::Result<std::vector<Obstacle>> obstacles_of_its_files(const std::set<int>& left_out = {}) const;
  /// It is the program when this returns. PERDURE_NOT_FOUND, PERDURE_PERMISSION: it cannot be run, and has ended.
  base::Status go();
  /// It ends, and runs nothing.
  void give_up();
  /// Nobody waits for it here any more.
  pid_t take() { return std::exchange(process_, 0); }

 private:
  ProgramStart(pid_t process, os::Fd go, os::Fd report, std::string name)
      : process_(process), go_(std::move(go)), report_(std::move(report)), name_(std::move(name)) {}
  pid_t process_;
  os::Fd go_, report_;
  std::string name_;
};

}  // namespace perdure::process
