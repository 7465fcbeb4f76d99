#pragma once
// A process of ours that holds another one while it is captured, and lets it go on when this one is done, however that
// ends: killed, too. It is the tracer; all that it needs is in its own memory. (docs/adr/0040)
#include <linux/userfaultfd.h>
#include <sys/types.h>

#include "os/file.hpp"
#include "process/dirty_tracking.hpp"
#include "process/held_tree.hpp"
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
    std::int32_t process = 0;
    std::vector<std::int32_t> left_out;  ///< --force-without
    bool hash_files = false;
    bool flags_before = false;  ///< flags of its mappings are looked at before it stands still
    std::int32_t captor = 0;    ///< a child of it that has it captured, and is not captured with it; 0: none
    bool places = true;         ///< as KnownOfMemory::places
    enum Proof : std::uint8_t { at_once, afterwards };
    std::uint8_t proof = at_once;  ///< that it can be brought back: before hold() returns, or by prove()
    PERDURE_FIELDS(process, left_out, hash_files, flags_before, captor, places, proof)
  };
  struct Held {
    ReadImage read;
    std::uint64_t seized_ns = 0;     ///< on the monotonic clock: all threads stood still
    std::vector<PageRun> unwritten;  ///< of a process that was followed: as FollowedPages
    PERDURE_FIELDS(read, seized_ns, unwritten)
  };
  struct HeldWithAll {
    ReadTree read;
    std::uint64_t seized_ns = 0;  ///< on the monotonic clock: all threads of all processes stood still
    PERDURE_FIELDS(read, seized_ns)
  };
  struct Followed {
    std::vector<PageRun> written;  ///< as DirtyTracking::take_written()
    double stopped_s = 0;          ///< so long it stood still for this
    PERDURE_FIELDS(written, stopped_s)
  };
  /// It stands still for a moment; from then on, until it is held, what it writes is followed. Refused as by hold(),
  /// and as by DirtyTracking::begin().
  base::Result<Followed> follow(const Wanted& wanted);
  /// What it wrote since this was asked last.
  base::Result<Followed> written();
  /// The process stands still from now on. As look_for_obstacles(), Tracee::seize() and read_image().
  base::Result<Held> hold(const Wanted& wanted);
  /// The process and all that descend from it stand still from now on. As look_at_tree(), HeldTree::seize() and read().
  base::Result<HeldWithAll> hold_tree(const Wanted& wanted);
  /// It, or they, go on as they were. False: it was held with flags_before, and they changed meanwhile.
  base::Result<bool> release();
  /// Proves once, for processes that may run again, as prove_resumable() does: as of when they stood
  /// still.
  base::Status prove();

  /// Of a process that runs before its pages are there (LazyPages): when this process ends, that one, which `pidfd`
  /// means, is killed, and the descriptors that it waits at stay open until it is dead. Once for each of them.
  base::Status keep(pid_t process, int pidfd, int faults);
  /// What has come of the memory of `number` (from 0, in the order in which they were kept). Forked memory is kept,
  /// too, before whoever forks goes on: so it is the guard that reads this.
  struct Events {
    std::vector<uffd_msg> all;
    std::vector<os::Fd> made;  ///< of each fork among them
  };
  base::Result<Events> take_events(std::size_t number);
  /// All of its pages have come.
  base::Status forget();

  /// What is asked of the guard's process.
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
