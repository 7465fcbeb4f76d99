#pragma once
// A process of ours that holds another one while it is captured, and lets it go on when this one is done, however that
// ends: killed, too. It is the tracer; all that it needs is in its own memory. (docs/adr/0040)
#include <sys/types.h>

#include "os/file.hpp"
#include "process/read_image.hpp"

namespace perdure::process {

/// One at a time is held. When this is destroyed, or its process ends, what is held goes on.
class Guard {
 public:
  /// A copy of this process, in a session of its own, so that what ends ours by a terminal or a group does not end it.
  /// To be called while this process has one thread.
  static base::Result<Guard> start();
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;
  ~Guard();

  struct Wanted {
    std::int32_t process = 0;            ///< 0: the one that is held goes on
    std::vector<std::int32_t> left_out;  ///< --force-without
    bool hash_files = false;
    PERDURE_FIELDS(process, left_out, hash_files)
  };
  struct Held {
    ReadImage read;
    std::uint64_t seized_ns = 0;  ///< on the monotonic clock: all threads stood still
    PERDURE_FIELDS(read, seized_ns)
  };
  /// The process stands still from now on. As look_for_obstacles(), Tracee::seize() and read_image().
  base::Result<Held> hold(const Wanted& wanted);
  /// It goes on as it was.
  base::Status release();

 private:
  Guard(pid_t guard, os::Fd socket) : guard_(guard), socket_(std::move(socket)) {}
  pid_t guard_;
  os::Fd socket_;
};

}  // namespace perdure::process
