#pragma once
// A process that gets its number in a name space of processes of its own, and where this process may not make one, in
// one of users, too, which needs no privilege. The first process there is ours: it reaps, and ends with the status of
// the one that it was made for, upon which the kernel ends whatever else is there. (docs/adr/0059)
#include <sys/types.h>

#include "base/result.hpp"
#include "os/file.hpp"
#include "process/clocks.hpp"

namespace perdure::process {

class NameSpace {
 public:
  /// `run` is called in the new process, a copy of one thread of ours, and does not return. PERDURE_EXISTS: the number
  /// is the first one's there; PERDURE_PERMISSION, PERDURE_UNSUPPORTED: the system allows no name spaces.
  /// The clocks of the new process are ahead by `shift` of those of this one, in a name space of time where that is not
  /// zero.
  static base::Result<NameSpace> make(pid_t number, void (*run)(void*), void* argument, const ClockImage& shift = {});
  NameSpace(NameSpace&& other) noexcept;
  NameSpace& operator=(NameSpace&&) = delete;
  /// All in it is ended, unless it was released.
  ~NameSpace();

  /// Numbers in the name space of this process.
  pid_t process() const { return process_; }
  pid_t first() const { return first_; }
  /// Whether it is one of users, too: the process has all rights in it, and none elsewhere.
  bool of_users() const { return of_users_; }
  /// It goes on without us.
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
