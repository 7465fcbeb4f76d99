#pragma once
// Makes a process with a chosen number in a process name space of its own. If this process may not make one, it also
// makes a user name space, which needs no privilege. The first process there is ours. It reaps orphans, and ends with
// the status of the made process; the kernel then kills the rest. (docs/adr/0059)
#include <sys/types.h>

#include "base/result.hpp"
#include "os/file.hpp"
#include "process/clocks.hpp"

namespace perdure::process {

class NameSpace {
 public:
  /// Calls `run` in the new process, a copy of one thread of ours. `run` must not return. The clocks of the new process
  /// are ahead of ours by `shift`, in a time name space if that is not zero. PERDURE_EXISTS: the number is that of the
  /// first process there. PERDURE_PERMISSION, PERDURE_UNSUPPORTED: the system permits no name spaces.
  static base::Result<NameSpace> make(pid_t number, void (*run)(void*), void* argument, const ClockImage& shift = {});
  NameSpace(NameSpace&& other) noexcept;
  NameSpace& operator=(NameSpace&&) = delete;
  /// Kills all its processes, unless it was released.
  ~NameSpace();

  /// The numbers in our own name space.
  pid_t process() const { return process_; }
  pid_t first() const { return first_; }
  /// Returns whether it has a user name space: the process has all rights inside, and none elsewhere.
  bool of_users() const { return of_users_; }
  /// Lets it continue without us.
  base::Status release();

 private:
  NameSpace(pid_t first, bool of_users, os::Fd control)
      : first_(first), of_users_(of_users), control_(std::move(control)) {}
  base::Status map_user() const;

  pid_t first_, process_ = 0;
  bool of_users_;
  os::Fd control_;
};

}  // namespace perdure::process
