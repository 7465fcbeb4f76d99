#pragma once
// The guard is a process of ours that holds another one during a capture. It is the tracer, and everything it needs is
// in its own memory. It releases the held process when our process ends, also by SIGKILL. (docs/adr/0040)
#include <linux/userfaultfd.h>
#include <sys/types.h>

#include "os/file.hpp"
#include "process/dirty_tracking.hpp"
#include "process/held_tree.hpp"
#include "process/read_image.hpp"

namespace perdure::process {

/// Holds one process or tree at a time. Releases it when this object is destroyed or its process ends.
class Guard {
 public:
  /// Forks this process into a session of its own, so that signals to our terminal or group do not end the guard. This
  /// process must have one thread.
  static base::Result<Guard> start();
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;
  ~Guard();

  struct Wanted {
    std::int32_t process = 0;
    std::vector<std::int32_t> left_out;  ///< --force-without
    bool hash_files = false;
    bool flags_before = false;  ///< read the flags of mappings before the process stands still
    std::int32_t captor = 0;    ///< a child of the process that runs this capture, and is not captured with it; 0: none
    bool places = true;         ///< as KnownOfMemory::places
    enum Proof : std::uint8_t { at_once, afterwards };
    std::uint8_t proof = at_once;  ///< whether hold() proves that the process can be resumed, or prove() does
    PERDURE_FIELDS(process, left_out, hash_files, flags_before, captor, places, proof)
  };
  struct Held {
    ReadImage read;
    std::uint64_t seized_ns = 0;     ///< on the monotonic clock: the moment when all threads stood still
    std::vector<PageRun> unwritten;  ///< of a followed process: as FollowedPages::unwritten
    PERDURE_FIELDS(read, seized_ns, unwritten)
  };
  struct HeldWithAll {
    ReadTree read;
    std::uint64_t seized_ns = 0;  ///< on the monotonic clock: the moment when all threads of all processes stood still
    PERDURE_FIELDS(read, seized_ns)
  };
  struct Followed {
    std::vector<PageRun> written;  ///< as DirtyTracking::take_written()
    double stopped_s = 0;          ///< how long the process stood still for this
    PERDURE_FIELDS(written, stopped_s)
  };
  /// Stops the process for a moment. From then on the guard follows its writes, until hold(). Fails as hold() and
  /// DirtyTracking::begin() do.
  base::Result<Followed> follow(const Wanted& wanted);
  /// Returns the pages written since the last call.
  base::Result<Followed> written();
  /// The process stands still afterwards. Fails as look_for_obstacles(), Tracee::seize() and read_image() do.
  base::Result<Held> hold(const Wanted& wanted);
  /// The process and all descendants stand still afterwards. Fails as look_at_tree(), HeldTree::seize() and read() do.
  base::Result<HeldWithAll> hold_tree(const Wanted& wanted);
  /// Lets the process or tree continue. Returns false if it was held with flags_before, and the flags changed
  /// meanwhile.
  base::Result<bool> release();
  /// Proves once that held processes can be resumed, as prove_resumable() does. They may run again by now: the proof
  /// uses their state when they stood still.
  base::Status prove();

  /// For a process that runs before its pages are there (LazyPages). If this process ends, the guard kills that one
  /// through `pidfd`. It keeps `faults` open until that process is dead, because its threads wait there. Call it once
  /// for each process.
  base::Status keep(pid_t process, int pidfd, int faults);
  /// Returns the userfaultfd events of memory `number`, counted from 0 in the order of keep(). The guard reads them
  /// because it must also keep forked memory before the forking thread continues.
  struct Events {
    std::vector<uffd_msg> all;
    std::vector<os::Fd> made;  ///< a descriptor for each fork among the events
  };
  base::Result<Events> take_events(std::size_t number);
  /// Ends keep() for all: their pages have come.
  base::Status forget();

  /// A request to the guard's process.
  struct Asked {
    enum What : std::uint8_t { release, hold, follow, written, hold_tree, keep, events, forget, prove };
    std::uint8_t what = release;
    Wanted wanted;
    PERDURE_FIELDS(what, wanted)
  };

 private:
  template <class Answer>
  base::Result<Answer> ask(const Asked& asked);
  Guard(pid_t guard, os::Fd socket) : guard_(guard), socket_(std::move(socket)) {}
  pid_t guard_;
  os::Fd socket_;
};

}  // namespace perdure::process
