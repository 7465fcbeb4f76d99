#pragma once
// A bystander is a process of ours that tests whether another one is confined. An unconfined process may look at it.
#include <sys/types.h>

#include "base/result.hpp"

namespace perdure::process {

/// It has the given user and group, no capabilities, and no semaphores to undo. It sleeps until this object ends.
class Bystander {
 public:
  static base::Result<Bystander> start(uid_t user, gid_t group);
  Bystander(Bystander&& other) noexcept;
  Bystander& operator=(Bystander&&) = delete;
  ~Bystander();
  pid_t process() const { return process_; }

 private:
  explicit Bystander(pid_t process) : process_(process) {}
  pid_t process_;
};

/// Returns whether this kernel has Landlock.
bool may_be_confined();

}  // namespace perdure::process
