#include "process/facilities_kernel.hpp"

#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "os/file.hpp"
#include "process/image.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {

int may_set_program() {
  const StatNumbers stat(proc_text("/proc/self/stat"));
  const os::Fd program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!program) return errno;
  const auto brk = static_cast<std::uint64_t>(::syscall(SYS_brk, 0));
  prctl_mm_map map{};
  map.start_code = stat.value(26);
  map.end_code = stat.value(27);
  map.start_stack = stat.value(28);
  map.start_data = stat.value(45);
  map.end_data = stat.value(46);
  map.start_brk = stat.value(47);
  map.brk = brk;
  map.arg_start = stat.value(48);
  map.arg_end = stat.value(49);
  map.env_start = stat.value(50);
  map.env_end = stat.value(51);
  map.exe_fd = static_cast<std::uint32_t>(program.get());
  if (::prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0 || errno == EBUSY) return 0;
  return errno;
}

int may_scan_pages(pid_t process) {
  struct Scan {  // Debian's headers do not have it yet
    std::uint64_t size, flags, begin, end, walk_end, regions, region_count, most_pages, inverted, all_of, any_of, tell;
  };
  constexpr unsigned long kScan = _IOWR('f', 16, Scan);
  constexpr std::uint64_t kPresentPage = 1 << 3;
  const std::string directory = "/proc/" + std::to_string(process);
  const auto maps = parse_maps(proc_text(directory + "/maps"), "maps");
  const os::Fd pages(::open((directory + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  if (!pages || !maps || maps->empty()) return errno;
  std::uint64_t region[3] = {};
  Scan scan{};
  scan.size = sizeof scan;
  scan.begin = maps->front().begin;
  scan.end = maps->front().end;
  scan.regions = reinterpret_cast<std::uint64_t>(region);
  scan.region_count = 1;
  scan.any_of = scan.tell = kPresentPage;
  return ::ioctl(pages.get(), kScan, &scan) >= 0 ? 0 : errno;
}

int may_handle_faults(std::uint64_t features) {
  const os::Fd faults(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
  if (!faults) return errno;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = features;
  return ::ioctl(faults.get(), UFFDIO_API, &api) == 0 ? 0 : errno;
}

}  // namespace perdure::process
