#pragma once
// A process of our own that another one may look at, unless something confines that one.
#include <sys/types.h>

#include "base/result.hpp"

namespace perdure::process {

/// It has the user and group, no capability, and undoes no semaphores; it sleeps until this ends.
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

/// Whether this kernel has Landlock.
bool may_be_confined();

}  // namespace perdure::process
