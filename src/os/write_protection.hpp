#pragma once
// Protects memory of this process so that the first write waits until it is allowed (userfaultfd in write-protect
// mode). The answering thread must not touch memory that waits, nor wait for a lock of the allocator. No call here
// allocates after open(), unless hooks are installed.
#include <cstdint>
#include <span>

#include "os/file.hpp"

namespace perdure::os {

/// The writers whose writes wait.
enum class WriteReach {
  program,  ///< only the program's: if the kernel writes for it (read(2)), the call fails with EFAULT
  all       ///< the kernel's, too
};

/// An event on protected memory.
struct WriteEvent {
  enum class What {
    write,  ///< a thread waits there
    gone    ///< it was unmapped, moved or dropped: the thread that did so goes on when this is read
  };
  What what = What::write;
  std::uint64_t begin = 0, end = 0;  ///< addresses; for a write those of the page
  std::uint64_t moved_to = 0;        ///< the new address, still protected; 0: none
};

/// Protects whole pages that are private, anonymous and writable. Any thread may call it. Waiting threads go on when it
/// is destroyed.
class WriteProtection {
 public:
  static constexpr std::size_t kMostEvents = 64;  ///< at a time

  /// Opens it with the farthest reach available. PERDURE_UNSUPPORTED, with both reasons: the system lacks it, or
  /// refuses it to us.
  static base::Result<WriteProtection> open();
  WriteReach reach() const { return reach_; }
  /// Readable while an event is pending.
  int fd() const { return faults_.get(); }

  /// Makes writes wait from now on. PERDURE_BUSY: another instance protects part of the range.
  base::Status protect(std::uint64_t begin, std::uint64_t end) const;
  enum class Answer {
    done,
    not_now,  ///< a thread unmaps, moves or drops memory: read that event first
    gone      ///< it is no longer protected
  };
  /// Allows writes, and wakes the threads that wait there.
  Answer allow(std::uint64_t begin, std::uint64_t end) const;
  /// Wakes the threads that wait there, which check again.
  void wake(std::uint64_t begin, std::uint64_t end) const;
  /// Ends the protection. False: the memory has changed, and part of it was not released.
  bool release(std::uint64_t begin, std::uint64_t end) const;
  /// Reads pending events without waiting.
  std::size_t read(std::span<WriteEvent, kMostEvents> events) const;
  /// Whether a thread unmaps, moves or drops protected memory, and waits until the event is read.
  bool changes() const;
  /// Releases all that is left. Nobody may use it afterwards.
  void close() { faults_.reset(); }

 private:
  WriteProtection(Fd faults, WriteReach reach) : faults_(std::move(faults)), reach_(reach) {}
  Fd faults_;
  WriteReach reach_;
};

}  // namespace perdure::os
