#pragma once
// Gives a running process its pages as they come, first those that its threads wait for. It follows changes to memory
// that has not come yet. Dropped pages come back as zeros, moved ones are served at the new place, and forked memory
// gets its pages too. (docs/adr/0059)
#include <linux/userfaultfd.h>

#include <deque>
#include <memory>
#include <optional>

#include "base/guarded.hpp"
#include "os/file.hpp"
#include "os/thread.hpp"
#include "process/guard.hpp"
#include "process/missing_pages.hpp"

namespace perdure::process {

class LazyPages {
 public:
  /// `faults`: the userfaultfd of the process, which stands still and is a child of this one. `maps`: memory to follow.
  /// Its pages in `missing` come from us; all others come only from the kernel. From now on the process is killed if
  /// this object or the guard's peer ends while a page is missing.
  static base::Result<std::unique_ptr<LazyPages>> begin(pid_t process, os::Fd faults, const std::vector<PageRun>& maps,
                                                        const std::vector<PageRun>& missing, Guard& guard);
  LazyPages(const LazyPages&) = delete;
  LazyPages& operator=(const LazyPages&) = delete;
  ~LazyPages();

  /// Returns the image address of the page that a thread has waited for longest.
  std::optional<std::uint64_t> wanted();
  /// Puts the image's pages from address `origin` on; any thread may call it. Before the process runs, this overwrites
  /// a page that is already there. Later such a page belongs to the process, and stays. PERDURE_NOT_FOUND: no process
  /// needs any page.
  base::Status put(std::uint64_t origin, base::ConstByteSpan bytes);
  /// The process runs. If this object kills it, nobody else collects its exit status.
  void released() { released_ = true; }
  /// Returns whether all memory with missing pages is gone.
  bool has_ended();
  /// Call it when all pages have come, or no process needs any. It stops following the process.
  base::Status end();

 private:
  /// One address space: of the resumed process, or one that it forked.
  struct Space {
    os::Fd faults;
    MissingPages missing;
    std::vector<std::uint64_t> zeros;  // pages to fill with zeros as soon as the kernel permits
    bool gone = false;
  };
  struct State {
    std::vector<Space> spaces;
    std::deque<std::uint64_t> waited_for;  // addresses in the image
    base::Status failed;
  };
  LazyPages(pid_t process, os::Fd pidfd, Guard& guard);
  base::Status serve();
  std::vector<int> served();
  base::Status take_events(State& state, std::size_t space);
  static void take_event(State& state, Space& space, const uffd_msg& event);
  static base::Status zero(Space& space, std::uint64_t page);
  enum class Step { done, again };
  base::Result<Step> put_now(State& state, std::uint64_t origin, base::ConstByteSpan bytes) const;
  base::Result<Step> put_part(Space& space, MissingPages::Part part, const std::byte* bytes) const;
  void fail(const base::Error& why);
  void stop();

  pid_t process_;
  os::Fd pidfd_, stop_;
  Guard& guard_;
  bool released_ = false, over_ = false;
  base::Guarded<State> state_;
  os::Thread thread_;  // reads events
};

}  // namespace perdure::process
