#pragma once
// Memory of this process whose first write waits until somebody allows it (userfaultfd in write-protect mode). Who
// answers must not touch memory that waits, nor wait for a lock of the allocator: no call here allocates once it is
// open, unless hooks are installed.
#include <cstdint>
#include <span>

#include "os/file.hpp"

namespace perdure::os {

/// Whose writes can wait.
enum class WriteReach {
  program,  ///< those of the program alone: where the kernel writes for it (read(2)), the call fails with EFAULT
  all       ///< those of the kernel, too
};

/// What has happened to protected memory.
struct WriteEvent {
  enum class What {
    write,  ///< a thread waits there
    gone    ///< it was unmapped, moved or dropped: who did it goes on when this is read
  };
  What what = What::write;
  std::uint64_t begin = 0, end = 0;  ///< addresses; of a write the page
  std::uint64_t moved_to = 0;        ///< where it is now, and still protected; 0: nowhere
};

/// Whole pages that are private, anonymous and writable. Any thread. A thread that waits when this ends goes on.
class WriteProtection {
 public:
  static constexpr std::size_t kMostEvents = 64;  ///< at a time

  /// With the farthest reach there is. PERDURE_UNSUPPORTED: the system has it not, or not for us, with both reasons.
  static base::Result<WriteProtection> open();
  WriteReach reach() const { return reach_; }
  /// Readable when there is an event.
  int fd() const { return faults_.get(); }

  /// From now on writes to it wait. PERDURE_BUSY: another one protects some of it.
  base::Status protect(std::uint64_t begin, std::uint64_t end) const;
  enum class Answer {
    done,
    not_now,  ///< somebody unmaps, moves or drops memory: the event is to be read first
    gone      ///< it is protected no longer
  };
  /// Those who wait there go on, and it can be written.
  Answer allow(std::uint64_t begin, std::uint64_t end) const;
  /// Those who wait there look again.
  void wake(std::uint64_t begin, std::uint64_t end) const;
  /// Nothing of it waits for us any more. False: it is no longer as it was, and not all of it was let go of.
  bool release(std::uint64_t begin, std::uint64_t end) const;
  /// What has come since, without waiting.
  std::size_t read(std::span<WriteEvent, kMostEvents> events) const;
  /// Somebody unmaps, moves or drops protected memory, and waits until the event is read.
  bool changes() const;
  /// Lets go of all that is left. Nobody is to use it then.
  void close() { faults_.reset(); }

 private:
  WriteProtection(Fd faults, WriteReach reach) : faults_(std::move(faults)), reach_(reach) {}
  Fd faults_;
  WriteReach reach_;
};

}  // namespace perdure::os
