#pragma once
// A process that runs, and gets its pages as they come, those first that its threads wait for. What it does to memory
// that has not come is followed: pages that it drops come back as zeros, what it moves is served at the new place, and
// what it forks gets its pages, too. (docs/adr/0059)
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
  /// `faults`: of the process, which stands still, and is a child of this one. `maps`: of which no page that is not
  /// among `missing` comes from anybody but the kernel. From now on the process is killed when this ends, or `guard`'s
  /// peer does, while a page is missing.
  static base::Result<std::unique_ptr<LazyPages>> begin(pid_t process, os::Fd faults, const std::vector<PageRun>& maps,
                                                        const std::vector<PageRun>& missing, Guard& guard);
  LazyPages(const LazyPages&) = delete;
  LazyPages& operator=(const LazyPages&) = delete;
  ~LazyPages();

  /// The address in the image of the page that a thread waits for longest.
  std::optional<std::uint64_t> wanted();
  /// Gives the image's pages from address `origin` on; any thread may call it. Before the process runs, it writes over
  /// a page that is there already, which is nobody's; later such a page is the process's own, and stays.
  /// PERDURE_NOT_FOUND: nobody is left who needs any.
  base::Status put(std::uint64_t origin, base::ConstByteSpan bytes);
  /// The process runs, and nobody else asks how it ended when this kills it.
  void released() { released_ = true; }
  /// Nobody has memory any more that a page could be missing in.
  bool has_ended();
  /// All have come, or nobody is left who needs them: nothing follows the process any more.
  base::Status end();

 private:
  /// The memory of a process: the one that was brought back, or what it forked.
  struct Space {
    os::Fd faults;
    MissingPages missing;
    std::vector<std::uint64_t> zeros;  // pages that are to be zeros as soon as the kernel lets us
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
