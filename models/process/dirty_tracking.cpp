#include "process/dirty_tracking.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "process/memory_maps.hpp"
#include "process/page_scan.hpp"
#include "process/proc_text.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

// Newer than Debian's headers: UFFD_FEATURE_WP_UNPOPULATED, UFFD_FEATURE_WP_ASYNC.
constexpr std::uint64_t kUnpopulated = 1 << 13, kWithoutHandler = 1 << 15;
// UFFD_USER_MODE_ONLY needs no privilege. The kernel's own writes to the memory need no handler either.
constexpr std::uint64_t kOfTheProgramOnly = 1;

base::Status cannot_follow(pid_t process, const std::string& what, int error) {
  if (error == ESRCH) return base::fail(PERDURE_NOT_FOUND, process_text(process), "it has ended");
  return base::fail(PERDURE_UNSUPPORTED, process_text(process),
                    "what it writes cannot be followed: " + what + ": " + std::strerror(error));
}

/// Takes a descriptor from the process, and closes it there.
base::Result<os::Fd> taken_from(Tracee& tracee, pid_t thread, std::int64_t number) {
  const os::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, tracee.process(), 0)));
  os::Fd taken;
  int error = errno;
  if (process) {
    taken = os::Fd(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
    error = errno;
  }
  PERDURE_CHECK(tracee.ask(thread, {SYS_close, static_cast<std::uint64_t>(number)}));
  if (!taken) PERDURE_CHECK(cannot_follow(tracee.process(), "pidfd_getfd", error));
  return taken;
}

base::Result<os::Fd> open_faults_of(Tracee& tracee) {
  const pid_t thread = tracee.threads().front();
  PERDURE_TRY(const auto number, tracee.ask(thread, {SYS_userfaultfd, O_CLOEXEC | kOfTheProgramOnly}));
  if (number < 0) PERDURE_CHECK(cannot_follow(tracee.process(), "userfaultfd", static_cast<int>(-number)));
  PERDURE_TRY(auto faults, taken_from(tracee, thread, number));
  uffdio_api api{UFFD_API, kUnpopulated | kWithoutHandler, 0};
  if (::ioctl(faults.get(), UFFDIO_API, &api) < 0)
    PERDURE_CHECK(cannot_follow(tracee.process(), "write protection without a handler", errno));
  return faults;
}

/// Leaves out memory that a userfaultfd of the process follows, and memory that the kernel cannot follow.
bool follow(int faults, const MemoryMap& map) {
  uffdio_register memory{{map.begin, map.bytes()}, UFFDIO_REGISTER_MODE_WP, 0};
  return ::ioctl(faults, UFFDIO_REGISTER, &memory) == 0;
}

bool of_its_own(const MemoryMap& map) { return !map.shared && !map.is_file() && !map.name.starts_with("[v"); }

constexpr std::uint64_t kNoneOfThese = PageCategories::file | PageCategories::zero_page;

}  // namespace

base::Result<DirtyTracking> DirtyTracking::begin(Tracee& tracee) {
  PERDURE_TRY(auto faults, open_faults_of(tracee));
  DirtyTracking tracking(tracee.process(), std::move(faults));
  const std::string directory = "/proc/" + std::to_string(tracee.process());
  PERDURE_TRY(tracking.pagemap_, os::File::open(directory + "/pagemap", os::Open::read));
  PERDURE_TRY(const auto maps, parse_maps(proc_text(directory + "/maps"), process_text(tracee.process())));
  for (const MemoryMap& map : maps)
    if (of_its_own(map) && follow(tracking.faults_.get(), map))
      tracking.followed_.push_back({map.begin, map.bytes() / kPageBytes});
  return tracking;
}

// Skips memory that was unmapped or replaced meanwhile.
base::Result<std::vector<PageRun>> DirtyTracking::take_written() {
  std::vector<PageRun> written;
  const PageCategories wanted{.has_all = PageCategories::followed | PageCategories::written, .has_none = kNoneOfThese};
  for (const PageRun& map : followed_) {
    const auto runs = scan_pages(pagemap_.fd(), map.begin, map.end(), wanted, true);
    // Some pages may be protected by now without being reported, so it is unknown which were written.
    if (!runs) PERDURE_CHECK(cannot_follow(process_, "PAGEMAP_SCAN", errno));
    written.insert(written.end(), runs->begin(), runs->end());
  }
  return written;
}

FollowedPages DirtyTracking::look(pid_t process) const {
  const auto pagemap = os::File::open("/proc/" + std::to_string(process) + "/pagemap", os::Open::read);
  return pagemap ? look_at_followed(pagemap->fd(), followed_) : FollowedPages();
}

void DirtyTracking::unprotect() {
  constexpr std::uint64_t kAtOnce = 8 * base::MiB;
  for (const PageRun& map : followed_)
    for (std::uint64_t at = map.begin; at < map.end(); at += kAtOnce) {
      uffdio_writeprotect part{{at, std::min(kAtOnce, map.end() - at)}, 0};
      (void)::ioctl(faults_.get(), UFFDIO_WRITEPROTECT, &part);  // fails if the memory is gone
    }
}

}  // namespace perdure::process
