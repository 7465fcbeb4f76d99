#include "process/page_faults.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string>

#include "os/file.hpp"
#include "os/system.hpp"
#include "process/image.hpp"
#include "process/proc_lists.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {
namespace {

base::Status cannot_give(std::uint64_t address, int error) {
  std::ostringstream at;
  at << "give it its page at 0x" << std::hex << address;
  return base::fail(base::errno_error(error, at.str(), "image"));
}

/// Returns whether some of its memory is followed.
bool waits_for_pages(pid_t process) {
  std::istringstream lines(proc_text("/proc/" + std::to_string(process) + "/smaps"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("VmFlags:") && (line + " ").find(" um ") != std::string::npos) return true;
  return false;
}

/// Kills forked orphans. A thread that is woken and still lacks its page reports its number again.
void end_who_waits(int faults, std::vector<int>& all, std::vector<os::Fd>& made) {
  constexpr std::uint64_t kLeastAddress = 0x10000;
  uffdio_range everything{kLeastAddress, kAddressEnd - kLeastAddress};
  (void)::ioctl(faults, UFFDIO_WAKE, &everything);
  for (const uffd_msg& event : read_events(faults)) {
    if (event.event == UFFD_EVENT_PAGEFAULT) ::kill(static_cast<pid_t>(event.arg.pagefault.feat.ptid), SIGKILL);
    if (event.event == UFFD_EVENT_FORK) all.push_back(made.emplace_back(static_cast<int>(event.arg.fork.ufd)).get());
  }
}

}  // namespace

base::Result<std::optional<GivenPages>> give_pages(int faults, std::uint64_t address, base::ConstByteSpan bytes) {
  uffdio_copy copy{address, reinterpret_cast<std::uint64_t>(bytes.data()), bytes.size(), 0, 0};
  if (::ioctl(faults, UFFDIO_COPY, &copy) == 0) return GivenPages{Given::all, bytes.size()};
  const int error = errno;
  if (error == EAGAIN && copy.copy > 0) return GivenPages{Given::some, static_cast<std::uint64_t>(copy.copy)};
  if (error == EAGAIN) return GivenPages{Given::not_now};
  if (error == EEXIST) return GivenPages{Given::there};
  if (error == ENOENT) return GivenPages{Given::no_memory};
  if (error == ESRCH) return std::nullopt;
  PERDURE_CHECK(cannot_give(address, error));
  return std::nullopt;
}

base::Result<std::optional<Given>> give_zeros(int faults, std::uint64_t page) {
  uffdio_zeropage zeros{{page, kPageBytes}, 0, 0};
  if (::ioctl(faults, UFFDIO_ZEROPAGE, &zeros) == 0) return Given::all;
  if (errno == EAGAIN) return Given::not_now;
  if (errno == EEXIST) return Given::there;
  if (errno == ENOENT) return Given::no_memory;
  if (errno == ESRCH) return std::nullopt;
  PERDURE_CHECK(cannot_give(page, errno));
  return std::nullopt;
}

void wake(int faults, std::uint64_t page) {
  uffdio_range range{page, kPageBytes};
  (void)::ioctl(faults, UFFDIO_WAKE, &range);
}

// This request changes nothing, because no memory is protected by this descriptor.
bool is_gone(int faults) {
  constexpr std::uint64_t kSomePage = 0x10000;
  uffdio_writeprotect nothing{{kSomePage, kPageBytes}, UFFDIO_WRITEPROTECT_MODE_DONTWAKE};
  return ::ioctl(faults, UFFDIO_WRITEPROTECT, &nothing) < 0 && errno == ESRCH;
}

int follow_missing(int faults, std::uint64_t begin, std::uint64_t end) {
  uffdio_register memory{{begin, end - begin}, UFFDIO_REGISTER_MODE_MISSING, 0};
  return ::ioctl(faults, UFFDIO_REGISTER, &memory) == 0 ? 0 : errno;
}

int follow_no_more(int faults, std::uint64_t begin, std::uint64_t end) {
  uffdio_range memory{begin, end - begin};
  return ::ioctl(faults, UFFDIO_UNREGISTER, &memory) == 0 ? 0 : errno;
}

std::vector<uffd_msg> read_events(int faults) {
  std::vector<uffd_msg> all;
  std::array<uffd_msg, 16> some{};
  for (;;) {
    const ssize_t got = ::read(faults, some.data(), sizeof some);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;
    all.insert(all.end(), some.begin(), some.begin() + got / static_cast<ssize_t>(sizeof(uffd_msg)));
    if (all.size() >= 1024) return all;
  }
}

void end_unserved(pid_t number, int process, const std::vector<int>& faults) {
  // A stopped process forks no more, and its children are still listed.
  (void)::syscall(SYS_pidfd_send_signal, process, SIGSTOP, nullptr, 0);
  os::sleep_ns(1'000'000);
  std::vector<os::Fd> family;
  for (const pid_t child : list_tree(number))
    if (child != number && waits_for_pages(child))
      family.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  (void)::syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0);
  for (const os::Fd& child : family)
    if (child) (void)::syscall(SYS_pidfd_send_signal, child.get(), SIGKILL, nullptr, 0);
  std::vector<os::Fd> made;
  std::vector<int> left = faults;
  while (!left.empty()) {
    std::erase_if(left, is_gone);
    const auto now = left;
    for (const int one : now) end_who_waits(one, left, made);
    if (!left.empty()) os::sleep_ns(1'000'000);
  }
}

}  // namespace perdure::process
