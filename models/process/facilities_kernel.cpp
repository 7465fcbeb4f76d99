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
#include "process/page_scan.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {

int may_set_program() {
  const MemoryLayout layout = layout_of(StatNumbers(proc_text("/proc/self/stat")));
  const os::Fd program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!program) return errno;
  const auto brk = static_cast<std::uint64_t>(::syscall(SYS_brk, 0));
  prctl_mm_map map{};
  map.start_code = layout.start_code;
  map.end_code = layout.end_code;
  map.start_stack = layout.start_stack;
  map.start_data = layout.start_data;
  map.end_data = layout.end_data;
  map.start_brk = layout.start_brk;
  map.brk = brk;
  map.arg_start = layout.arg_start;
  map.arg_end = layout.arg_end;
  map.env_start = layout.env_start;
  map.env_end = layout.env_end;
  map.exe_fd = static_cast<std::uint32_t>(program.get());
  if (::prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0 || errno == EBUSY) return 0;
  return errno;
}

int may_scan_pages(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process);
  const auto maps = parse_maps(proc_text(directory + "/maps"), "maps");
  const os::Fd pages(::open((directory + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  if (!pages || !maps || maps->empty()) return errno;
  errno = 0;
  return scan_pages(pages.get(), maps->front().begin, maps->front().end, {}) ? 0 : errno;
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
